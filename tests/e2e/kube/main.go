// The parts of Kubernetes in one program, for tests: `kube apiserver FLAGS...`. tests/e2e/kube_program.py builds it.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"go.etcd.io/etcd/server/v3/etcdmain"
	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/logs/json/register"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	manager "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
)

// Each command registers flags and feature gates of its own, so only the one that runs is made.
var commands = map[string]func() *cobra.Command{
	"apiserver": apiserver.NewAPIServerCommand,
	"manager":   manager.NewControllerManagerCommand,
	"scheduler": func() *cobra.Command { return scheduler.NewSchedulerCommand() }, // it takes options
}

func main() {
	part := ""
	if len(os.Args) > 1 {
		part = os.Args[1]
		// Each part reads os.Args as if it were a program of its own.
		os.Args = append([]string{filepath.Join(filepath.Dir(os.Args[0]), part)}, os.Args[2:]...)
	}
	if part == "etcd" {
		etcdmain.Main(os.Args)
		return
	}
	command, found := commands[part]
	if !found {
		fmt.Fprintln(os.Stderr, "usage: kube etcd|apiserver|manager|scheduler FLAG...")
		os.Exit(2)
	}
	os.Exit(cli.Run(command()))
}
