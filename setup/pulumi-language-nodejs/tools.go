//go:build tools

// Package tools keeps the Node.js language host in go.mod: the CLI runs TypeScript programs through it.
package tools

import _ "github.com/pulumi/pulumi/sdk/v3/nodejs/cmd/pulumi-language-nodejs"
