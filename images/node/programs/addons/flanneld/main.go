// Command flanneld is flannel's own packages put together for Kubernetes and IPv4: the official program's flags that concern
// them, and every backend but those that belong to one vendor (tencentvpc) or start other programs (extension, ipsec, udp).
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/flannel-io/flannel/pkg/backend"
	_ "github.com/flannel-io/flannel/pkg/backend/alloc"
	_ "github.com/flannel-io/flannel/pkg/backend/hostgw"
	_ "github.com/flannel-io/flannel/pkg/backend/ipip"
	_ "github.com/flannel-io/flannel/pkg/backend/vxlan"
	_ "github.com/flannel-io/flannel/pkg/backend/wireguard"
	"github.com/flannel-io/flannel/pkg/ip"
	"github.com/flannel-io/flannel/pkg/ipmatch"
	"github.com/flannel-io/flannel/pkg/subnet"
	"github.com/flannel-io/flannel/pkg/subnet/kube"
	"github.com/flannel-io/flannel/pkg/trafficmngr"
	"github.com/flannel-io/flannel/pkg/trafficmngr/iptables"
	"github.com/flannel-io/flannel/pkg/trafficmngr/nftables"
	"github.com/flannel-io/flannel/pkg/version"
	"k8s.io/klog/v2"
)

// options are the program's flags, by the names that the official program gives them.
type options struct {
	annotationPrefix, apiURL, kubeconfig, netConfPath, subnetFile string
	iface, ifaceCanReach, publicIP                                string
	healthzIP                                                     string
	healthzPort, resyncSeconds                                    int
	ipMasq, noRandomMasq, forwardRules, setNetworkUnavailable     bool
	version                                                       bool
}

// ready tells /readyz that the subnet file is written and the traffic rules are in place.
var ready atomic.Bool

func main() {
	chosen := parseFlags()
	if chosen.version {
		fmt.Println(version.Version)
		return
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, chosen); err != nil && ctx.Err() == nil {
		klog.Errorf("flannel ends: %v", err)
		os.Exit(1)
	}
}

func parseFlags() options {
	var o options
	var kubeSubnetManager bool
	klog.InitFlags(nil)
	flag.BoolVar(&kubeSubnetManager, "kube-subnet-mgr", true, "take subnets from Kubernetes; the only way in this program")
	flag.StringVar(&o.annotationPrefix, "kube-annotation-prefix", "flannel.alpha.coreos.com", "prefix of the node annotations")
	flag.StringVar(&o.apiURL, "kube-api-url", "", "URL of the Kubernetes API; needless in a pod")
	flag.StringVar(&o.kubeconfig, "kubeconfig-file", "", "kubeconfig; needless in a pod")
	flag.StringVar(&o.netConfPath, "net-config-path", "/etc/kube-flannel/net-conf.json", "network configuration")
	flag.StringVar(&o.subnetFile, "subnet-file", "/run/flannel/subnet.env", "file that tells this machine's subnet")
	flag.StringVar(&o.iface, "iface", "", "interface (name or address) for traffic between machines")
	flag.StringVar(&o.ifaceCanReach, "iface-can-reach", "", "use the interface that reaches this address")
	flag.StringVar(&o.publicIP, "public-ip", "", "address by which other machines reach this one")
	flag.StringVar(&o.healthzIP, "healthz-ip", "0.0.0.0", "address of the health endpoint")
	flag.IntVar(&o.healthzPort, "healthz-port", 0, "port of the health endpoint; 0 for none")
	flag.IntVar(&o.resyncSeconds, "iptables-resync", 5, "seconds between two looks at the traffic rules")
	flag.BoolVar(&o.ipMasq, "ip-masq", false, "masquerade what leaves the pod network")
	flag.BoolVar(&o.noRandomMasq, "ip-masq-fully-random-disable", false, "masquerade without fully random ports")
	flag.BoolVar(&o.forwardRules, "iptables-forward-rules", true, "accept forwarded traffic of the pod network")
	flag.BoolVar(&o.setNetworkUnavailable, "set-node-network-unavailable", true, "clear the node's NetworkUnavailable")
	flag.BoolVar(&o.version, "version", false, "print the version and end")
	flag.Parse()
	if !kubeSubnetManager {
		klog.Exit("subnets come from Kubernetes only: --kube-subnet-mgr=false is not possible")
	}
	return o
}

func run(ctx context.Context, o options) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var running sync.WaitGroup
	if o.healthzPort > 0 {
		serveHealth(net.JoinHostPort(o.healthzIP, strconv.Itoa(o.healthzPort)))
	}

	manager, err := kube.NewSubnetManager(
		ctx, o.apiURL, o.kubeconfig, o.annotationPrefix, o.netConfPath, o.setNetworkUnavailable)
	if err != nil {
		return fmt.Errorf("the subnet manager cannot be made: %w", err)
	}
	config, err := manager.GetNetworkConfig(ctx)
	if err != nil {
		return fmt.Errorf("the network's configuration cannot be read: %w", err)
	}
	network, err := registerNetwork(ctx, &running, o, manager, config)
	if err != nil {
		return err
	}
	if err := setTrafficRules(ctx, o, config, network); err != nil {
		return err
	}
	lease := network.Lease()
	if err := manager.HandleSubnetFile(o.subnetFile, config, o.ipMasq, lease.Subnet, lease.IPv6Subnet, network.MTU()); err != nil {
		return fmt.Errorf("%s cannot be written: %w", o.subnetFile, err)
	}
	ready.Store(true)
	klog.Infof("%s is written: %s", o.subnetFile, lease.Subnet)

	running.Go(func() { network.Run(ctx) })
	if err := manager.CompleteLease(ctx, lease, &running); err != nil {
		return fmt.Errorf("the node's lease cannot be completed: %w", err)
	}
	running.Wait()
	return nil
}

// registerNetwork tells the other machines how this one is reached, through the backend that the configuration names.
func registerNetwork(
	ctx context.Context, running *sync.WaitGroup, o options, manager subnet.Manager, config *subnet.Config,
) (backend.Network, error) {
	stack, err := ipmatch.GetIPFamily(config.EnableIPv4, config.EnableIPv6)
	if err != nil {
		return nil, err
	}
	public := ipmatch.PublicIPOpts{PublicIP: o.publicIP}
	if stored, _ := manager.GetStoredPublicIP(ctx); stored != "" {
		public.PublicIP = stored
	}
	name := o.iface
	if name == "" && o.ifaceCanReach == "" {
		name = public.PublicIP
	}
	external, err := ipmatch.LookupExtIface(name, "", o.ifaceCanReach, stack, public)
	if err != nil {
		return nil, fmt.Errorf("no interface for traffic between machines: %w", err)
	}
	chosen, err := backend.NewManager(ctx, manager, external).GetBackend(config.BackendType)
	if err != nil {
		return nil, fmt.Errorf("backend %q: %w", config.BackendType, err)
	}
	network, err := chosen.RegisterNetwork(ctx, running, config)
	if err != nil {
		return nil, fmt.Errorf("backend %q cannot register the network: %w", config.BackendType, err)
	}
	return network, nil
}

func setTrafficRules(ctx context.Context, o options, config *subnet.Config, network backend.Network) error {
	var rules trafficmngr.TrafficManager = &iptables.IPTablesManager{}
	if config.EnableNFTables {
		rules = &nftables.NFTablesManager{}
	}
	if err := rules.Init(ctx); err != nil {
		return fmt.Errorf("traffic rules cannot be set: %w", err)
	}
	if o.ipMasq {
		// What an earlier run of the program set is found by its comment, so that no earlier network has to be named.
		none, none6 := ip.IP4Net{}, ip.IP6Net{}
		if err := rules.SetupAndEnsureMasqRules(
			ctx, config.Network, none, none, config.IPv6Network, none6, none6, network.Lease(), o.resyncSeconds, o.noRandomMasq,
		); err != nil {
			return fmt.Errorf("masquerading cannot be set up: %w", err)
		}
	}
	if o.forwardRules {
		rules.SetupAndEnsureForwardRules(ctx, config.Network, config.IPv6Network, o.resyncSeconds)
	}
	return nil
}

func serveHealth(address string) {
	http.HandleFunc("/healthz", func(response http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(response, "flanneld is running")
	})
	http.HandleFunc("/readyz", func(response http.ResponseWriter, _ *http.Request) {
		if !ready.Load() {
			response.WriteHeader(http.StatusServiceUnavailable)
			fmt.Fprint(response, "flanneld is not ready yet")
			return
		}
		fmt.Fprint(response, "flanneld is ready")
	})
	go func() {
		if err := http.ListenAndServe(address, nil); err != nil && !errors.Is(err, http.ErrServerClosed) {
			klog.Exitf("the health endpoint cannot be served: %v", err)
		}
	}()
}
