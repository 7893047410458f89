/**
 * The verbs of the command: what each does, its help, and the code that does it. That code is loaded only when it runs.
 */
import { applyVerb, deleteVerb, explainVerb, rollbackVerb } from "./run-verbs";
import { completionVerb, graphVerb, imageVerb, listVerb, versionVerb } from "./show-verbs";
import { ownVerb, type Verb } from "./verb";

const asks = "Asks before it changes anything; --yes answers beforehand.";
const nothingToRemove = 'There is no stack "STACK", so there is nothing to remove.';
const nothingToRefresh = 'There is no stack "STACK", so there is nothing to look at.';

function passesOn(command: string): string {
  return `Everything else goes to "pulumi ${command}": --diff, --target, --json and so on.`;
}

const kubeconfigVerb = ownVerb({
  summary: "print the cluster's kubeconfig",
  help: "Prints it; a file is written only where an option asks for that.",
  equals: "pulumi stack output kubeconfig --show-secrets",
  options: {
    output: {
      short: "o",
      value: "FILE",
      kind: "file",
      says: "merge it into FILE: this cluster's entries are replaced, all others stay",
    },
    merge: { says: "the same with the file that kubectl reads" },
    switch: { says: "make it the current context of that file; without this a file keeps its own" },
  },
  run: async (args, interruption) => (await import("./kubeconfig")).kubeconfig(args, interruption),
});

export const verbs: Readonly<Record<string, Verb>> = {
  up: {
    summary: "make the cluster, or change it to what the configuration says",
    help: `Sets up what is missing on this computer, makes the stack if need be, and runs "pulumi up".\n${asks}\n${passesOn("up")}`,
    equals: "pulumi up",
    run: async (args, interruption) => operation({ command: "up", script: "up" }, args, interruption),
  },
  preview: {
    summary: "show what up would change",
    help: `Runs "pulumi preview". Changes nothing.\n${passesOn("preview")}`,
    equals: "pulumi preview",
    run: async (args, interruption) => operation({ command: "preview", script: "preview" }, args, interruption),
  },
  refresh: {
    summary: "look at what is really there and record it",
    help: `Runs "pulumi refresh". ${asks}\n${passesOn("refresh")}`,
    equals: "pulumi refresh",
    run: async (args, interruption) =>
      operation({ command: "refresh", script: "refresh", withoutStack: nothingToRefresh }, args, interruption),
  },
  down: {
    summary: "remove the cluster and everything that was made for it",
    help: `Runs "pulumi destroy". ${asks}\n${passesOn("destroy")}`,
    equals: "pulumi destroy",
    run: async (args, interruption) =>
      operation({ command: "destroy", script: "down", withoutStack: nothingToRemove }, args, interruption),
  },
  apply: applyVerb,
  rollback: rollbackVerb,
  delete: deleteVerb,
  explain: explainVerb,
  kubeconfig: kubeconfigVerb,
  getconfig: { ...kubeconfigVerb, summary: "the same as kubeconfig, by kubicorn's name for it" },
  env: ownVerb({
    summary: "print the exports with which plain pulumi does the same",
    help: 'For a shell: eval "$(npm run -s env)"; then "pulumi up -s local" does what "npm run up" does.',
    equals: "none",
    options: {},
    run: async (args, interruption) => (await import("./env")).printEnvironment(args, interruption),
  }),
  list: listVerb,
  graph: graphVerb,
  image: imageVerb,
  version: versionVerb,
  completion: completionVerb,
};

async function operation(...call: Parameters<typeof import("./operation").operate>): Promise<number> {
  const { operate } = await import("./operation");
  return operate(...call);
}
