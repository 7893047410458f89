#!/bin/sh
# Runs once in a plain Debian container while the machine image is built: installs the packages named in its arguments.
set -eu

export DEBIAN_FRONTEND=noninteractive

# Documentation and translations are left out; nothing on a machine reads them.
cat > /etc/dpkg/dpkg.cfg.d/kubicorn <<'END'
path-exclude=/usr/share/doc/*
path-exclude=/usr/share/man/*
path-exclude=/usr/share/info/*
path-exclude=/usr/share/locale/*
path-exclude=/usr/share/i18n/*
path-exclude=/usr/share/lintian/*
END
# No service is started while packages are installed.
printf '#!/bin/sh\nexit 101\n' > /usr/sbin/policy-rc.d
chmod 755 /usr/sbin/policy-rc.d

apt-get update -qq
# The image is thrown away when the power fails, so dpkg need not wait for the disk.
apt-get install -y -qq --no-install-recommends -o Dpkg::Options::=--force-unsafe-io "$@"

rm /usr/sbin/policy-rc.d
apt-get clean
rm -rf /var/lib/apt/lists/*
