/** The words of container engines, and what of them another try may cure, an address elsewhere, or nothing. */
import { describe, expect, it } from "vitest";
import { RemoteError } from "../../cloud/errors";
import { isAbsent, isConflict, isPassing } from "../../providers/local/engine";
import { limitArguments, requireOpenFiles } from "../../providers/local/probe";

const refusal = (words: string) => new RemoteError("starting machine a", "podman", words, 125);

describe("a conflict", () => {
  it.each([
    'plugin type="bridge" failed (add): cni plugin bridge failed: failed to allocate for range 0: requested IP address 10.99.90.11 is not available in range set 10.99.90.1-10.99.90.254',
    "cannot listen on the TCP port: listen tcp4 127.0.0.1:21011: bind: address already in use",
    'creating container storage: the container name "m1" is already in use by dd7ee. You have to remove that container to be able to reuse that name: that name is already in use',
    "subnet 10.99.90.0/24 is already used on the host or by another config",
    "IPAM error: requested ip address 10.89.0.5 is already allocated to container ID 1",
    "driver failed programming external connectivity on endpoint m1: Bind for 127.0.0.1:21011 failed: port is already allocated",
    "Address already in use",
    "Pool overlaps with other one on this address space",
  ])("%s", (words) => {
    expect(isConflict(refusal(words))).toBe(true);
    expect(isAbsent(refusal(words))).toBe(false);
    expect(isPassing(words)).toBe(false);
  });
});

describe("an absence", () => {
  it.each([
    "inspecting object: no such container nosuch",
    "Error response from daemon: No such container: nosuch",
    "unable to find network with name or ID nosuch: network not found",
    "inspecting object: nosuch: image not known",
    "Error response from daemon: network nosuch not found",
    'Error: no container with name or ID "nosuch" found: no such container',
    "Error response from daemon: get nosuch: no such volume",
    'Error: no volume with name "nosuch" found: no such volume',
    "error: no such object: nosuch",
    "Error: nosuch: image not known",
  ])("%s", (words) => {
    expect(isAbsent(refusal(words))).toBe(true);
    expect(isConflict(refusal(words))).toBe(false);
  });
});

describe("no absence", () => {
  it.each([
    "open /var/lib/containers/storage/overlay/l/X: no such file or directory",
    'exec: "runc": executable file not found in $PATH: OCI runtime attempted to invoke a command that was not found',
    'Error: default OCI runtime "crun" not found: invalid argument',
    "cannot find UID/GID for user nosuch: no such user",
  ])("%s", (words) => {
    expect(isAbsent(refusal(words))).toBe(false);
  });
});

describe("what may pass", () => {
  it.each([
    "Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?",
    "database is locked",
    "acquiring lock 3 for container m1: resource temporarily unavailable",
  ])("%s", (words) => {
    expect(isPassing(words)).toBe(true);
  });
});

describe("limits", () => {
  it("asks for no more than the process may have", () => {
    const limits =
      "Limit                     Soft Limit           Hard Limit           Units     \n" +
      "Max processes             96365                96365                processes \n" +
      "Max open files            20000                20000                files     \n";
    expect(limitArguments(limits)).toEqual(["--ulimit", "nofile=20000:20000", "--ulimit", "nproc=32768:32768"]);
  });

  it("asks for what machines need where nothing is known", () => {
    expect(limitArguments("")).toEqual(["--ulimit", "nofile=1048576:1048576", "--ulimit", "nproc=32768:32768"]);
  });

  it("are refused where no machine could live in them", () => {
    const limits = limitArguments("Max open files            256                  256                  files");
    expect(() => requireOpenFiles(limits)).toThrow(/at most 256 open files.*needs 4096.*ulimit -Hn/);
    requireOpenFiles([]);
    requireOpenFiles(limitArguments(""));
  });
});
