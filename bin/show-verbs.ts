/**
 * The verbs that show something and change no cluster: what each does, its help, and the code that does it.
 */
import { outputOption, ownVerb, yesOption } from "./verb";

export const versionVerb = ownVerb({
  summary: "print the versions of this package and of all that it works with",
  help: `This package, the Kubernetes that it makes (the first is the default), the Pulumi CLI that it uses, Node.js, and the
container engine that answers. Sets nothing up, and succeeds also where something is not there yet.

As JSON or YAML: kubicorn, kubernetes (a list), pulumi { version, folder }, node, engine { name, version }. What is not
there is { problem } instead.`,
  equals: "pulumi version, for the CLI alone",
  options: outputOption,
  run: async (args) => (await import("./version")).version(args.options.output),
});

export const listVerb = ownVerb({
  summary: "list the project's stacks and what is recorded of each",
  help: `Each is one cluster: its cloud and Kubernetes version as configured; how many of its machines are recorded as nodes;
when the record was last written; and its state: none, empty, a number of resources, interrupted, in use (by whom),
or cut short. Only reads: sets nothing up, and looks at no cloud. Where the state is in no folder, it asks Pulumi.

As JSON or YAML: a list of name, cloud, kubernetesVersion, state ("none", "empty", "made", "interrupted", "in use" or
"cut short"), resources, nodes, pendingOperations, inUse, changed, problem. What cannot be told is null.`,
  equals: "pulumi stack ls",
  options: outputOption,
  run: async (args, interruption) => (await import("./list")).list(args, interruption),
});

export const graphVerb = ownVerb({
  summary: "show the parts that the configured cluster has, and what each waits for",
  help: `From the configuration alone, as the next run will have it: asks no cloud and no Pulumi, and writes nothing. Parts
stand in the order in which they are made, below their component; one that waits for another waits for all that the
other waits for. As SVG it is a picture: kubicorn graph -o svg >cluster.svg

As JSON or YAML: stack, and parts, a list of name, kind, component { type, name } (null is the cluster itself), needs,
and waitsFor, which has no names that follow from others.`,
  equals: "pulumi stack graph, of what is recorded",
  options: {
    output: {
      short: "o",
      value: "FORMAT",
      allowed: ["text", "json", "yaml", "svg"],
      says: "how it is printed; json and yaml keep their form (default: text)",
    },
  },
  run: async (args) => (await import("./graph")).graph(args),
});

export const imageVerb = ownVerb({
  summary: "list the machine images of this computer, or build one beforehand",
  help: `"image list" shows the images that machines on this computer start from: which are there, which is the current one of
its Kubernetes version, and which stacks have machines of it. "image build" makes one where it is not there, which "up"
does by itself; the first one takes minutes. Images of an older version of this package go a week after their last use.

As JSON or YAML: a list of reference, tag, kubernetesVersion, engine, sizeGiB, made, current, stacks (as project/stack);
of build only the one image, and built: whether it was not there before.`,
  equals: "none",
  options: {
    "kubernetes-version": {
      value: "VERSION",
      says: "of which version; for build, the default is the newest, for list, all",
    },
    ...yesOption,
    ...outputOption,
  },
  operands: { name: "ACTION", least: 1, most: 1, allowed: ["list", "build"], says: "what to do" },
  run: async (args, interruption) => (await import("./image")).image(args, interruption),
});

export const completionVerb = ownVerb({
  summary: "print a script with which a shell completes this command",
  help: `Completes verbs, their options, the values that are allowed, names of stacks, files and folders. To use it:
  bash  eval "$(kubicorn completion bash)" in ~/.bashrc
  zsh   eval "$(kubicorn completion zsh)" in ~/.zshrc, after compinit
  fish  kubicorn completion fish >~/.config/fish/completions/kubicorn.fish

With words after --, prints what could stand in the last one's place; that is what the script asks for.`,
  equals: "pulumi gen-completion, for its own command",
  options: {},
  operands: {
    name: "SHELL",
    least: 1,
    most: Number.POSITIVE_INFINITY,
    allowed: ["bash", "zsh", "fish"],
    further: "WORD",
    says: "the shell to print for",
  },
  run: async (args) => (await import("./completion")).completion(args),
});
