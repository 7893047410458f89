//go:build tools

// Package tools keeps the Pulumi CLI and everything it is built from in go.mod.
package tools

import _ "github.com/pulumi/pulumi/pkg/v3/cmd/pulumi"
