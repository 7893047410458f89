// Command hello is a tiny web server and client to try a cluster with. Served, it says which pod answers, on which machine,
// and whom; `hello get URL` prints what a URL answers, by the pod's own DNS.
package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"time"
)

func main() {
	var err error
	if len(os.Args) == 3 && os.Args[1] == "get" {
		err = get(os.Args[2])
	} else {
		err = serve()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func serve() error {
	pod, err := os.Hostname()
	if err != nil {
		return fmt.Errorf("the pod's name cannot be read: %w", err)
	}
	http.HandleFunc("/", func(response http.ResponseWriter, request *http.Request) {
		fmt.Fprintf(response, "pod=%s node=%s from=%s\n", pod, os.Getenv("NODE"), request.RemoteAddr)
	})
	return http.ListenAndServe(":8080", nil)
}

func get(url string) error {
	client := http.Client{Timeout: 5 * time.Second}
	response, err := client.Get(url)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	_, err = io.Copy(os.Stdout, response.Body)
	return err
}
