/**
 * The help texts of the command and of each verb.
 */
import { exitCodeTexts } from "./exit-codes";
import { columns } from "./table";
import { commonOptions, type Operands, type Option, type Options, type OwnVerb, type Verb } from "./verb";
import { verbs } from "./verbs";

export function commandHelp(): string {
  const names = Object.entries(verbs).map(([name, { summary }]) => [name, summary] as const);
  return `Usage: kubicorn VERB [options]

Makes Kubernetes clusters that belong to you, with Pulumi.

Verbs ("kubicorn VERB --help" tells more):
${indented(names)}

Options of every verb:
${indented(optionRows(commonOptions))}

Exit codes (up, preview, refresh and down end with Pulumi's own):
${indented(exitCodeTexts)}

Through npm, put -- before options: npm run up -- --yes; npm run -s kubicorn -- list -o json
`;
}

export function verbHelp(name: string, verb: Verb): string {
  const own = verb.options ? verb : undefined;
  const parts = [
    `Usage: kubicorn ${name}${own?.operands ? usageOf(own.operands) : ""} [options]`,
    `${name}: ${verb.summary}.`,
    verb.help,
    `Plain Pulumi: ${verb.equals}`,
    ...(own ? [optionsOf(own)] : []),
    `Options of every verb:\n${indented(optionRows(commonOptions))}`,
  ];
  return `${parts.filter((part) => part !== "").join("\n\n")}\n`;
}

function usageOf({ name, least, further }: Operands): string {
  return `${least > 0 ? ` ${name}` : ` [${name}]`}${further === undefined ? "" : ` [-- ${further} ...]`}`;
}

function optionsOf({ options, operands }: OwnVerb): string {
  const rows = [
    ...(operands ? [[operands.name, withAllowed(operands.says, operands.allowed)] as const] : []),
    ...optionRows(options),
  ];
  return rows.length === 0 ? "" : `Its own options:\n${indented(rows)}`;
}

function optionRows(options: Options): (readonly [string, string])[] {
  return Object.entries(options).map(([long, option]) => [
    `${option.short ? `-${option.short}, ` : "    "}--${long}${option.value ? ` ${option.value}` : ""}`,
    withAllowed(option.says, option.allowed),
  ]);
}

function withAllowed(says: string, allowed: Option["allowed"]): string {
  return allowed ? `${allowed.join(", ")}: ${says}` : says;
}

function indented(rows: readonly (readonly string[])[]): string {
  return columns(rows)
    .map((line) => `  ${line}`)
    .join("\n");
}
