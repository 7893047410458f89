/**
 * The help texts of the command and of each verb.
 */
import { type Verb, verbs } from "./verbs";

const common = `Options of every verb:
  -s, --stack NAME   the stack, which is one cluster (default: $PULUMI_STACK, else local)
  -C, --cwd FOLDER   the folder of the project (default: this one, or the nearest above with a Pulumi.yaml)
  -h, --help         this text

Through npm, put -- before options: npm run up -- --yes
`;

export function commandHelp(): string {
  const lines = Object.entries(verbs).map(([name, { summary }]) => `  ${name.padEnd(12)}${summary}\n`);
  return `Usage: kubicorn VERB [options]

Makes Kubernetes clusters that belong to you, with Pulumi.

Verbs (each also as "npm run VERB"; "kubicorn VERB --help" tells more):
${lines.join("")}
${common}`;
}

export function verbHelp(name: string, { summary, help }: Verb): string {
  return `Usage: kubicorn ${name} [options]\n\n${name}: ${summary}.\n\n${help}\n\n${common}`;
}
