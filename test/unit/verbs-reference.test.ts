/** docs/verbs.md names every verb with its options and the plain Pulumi command that it equals, and no other. */
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { expect, test } from "vitest";
import { exitCodeTexts } from "../../bin/exit-codes";
import { commonOptions, type Options, type Verb } from "../../bin/verb";
import { verbs } from "../../bin/verbs";

const page = readFileSync(resolve(__dirname, "../../docs/verbs.md"), "utf8");

/** What is wrong with the page, each as a sentence that says what to write there. */
function faultsOf(text: string, known: Readonly<Record<string, Verb>>): string[] {
  const chapters = sections(text, "## ");
  const described = new Map(
    [...sections(chapters.get("Verbs") ?? "", "### ")].flatMap(([heading, section]) =>
      [...heading.matchAll(/`([^`]+)`/g)].map(([, verb = ""]) => [verb, section] as const),
    ),
  );
  const unknown = [...described.keys()].filter((name) => !Object.hasOwn(known, name));
  return [
    ...Object.entries(known).flatMap(([name, verb]) => faultsOfVerb(name, verb, described.get(name))),
    ...unknown.map((name) => `There is no verb ${name}: remove its section.`),
    ...faultsOfRows("Options of every verb", optionCells(commonOptions), chapters.get("Options of every verb") ?? ""),
    ...faultsOfRows(
      "Exit codes",
      exitCodeTexts.map(([code]) => code),
      chapters.get("Exit codes") ?? "",
    ),
  ];
}

function faultsOfVerb(name: string, { equals, options = {} }: Verb, section: string | undefined): string[] {
  if (section === undefined) {
    const rows = optionCells(options).map((cell) => `| \`${cell}\` | ... |`);
    return [
      [
        `The verb ${name} has no section: under "## Verbs", add "### \`${name}\`" with what it does`,
        `a line "Plain Pulumi: ${equals}"${rows.length > 0 ? `, a table with the rows ${rows.join(" ")}` : ""}`,
        "and its JSON form, if it has one.",
      ].join(", "),
    ];
  }
  const told = /^Plain Pulumi: (.*)$/m.exec(section)?.[1]?.replaceAll("`", "");
  const wrong = `The section of ${name} must have a line "Plain Pulumi: ${equals}", where it has "${told}".`;
  return [...(told === equals ? [] : [wrong]), ...faultsOfRows(name, optionCells(options), section)];
}

/** Of the tables whose first column is code. */
function faultsOfRows(where: string, wanted: readonly string[], section: string): string[] {
  const cells = [...section.matchAll(/^\| `([^`]+)` \|/gm)].map(([, cell = ""]) => cell);
  return [
    ...wanted.filter((cell) => !cells.includes(cell)).map((cell) => `"${where}" lacks the row | \`${cell}\` | ... |.`),
    ...cells
      .filter((cell) => !wanted.includes(cell))
      .map((cell) => `"${where}" has a row \`${cell}\` that is no more.`),
  ];
}

function optionCells(options: Options): string[] {
  return Object.entries(options).map(
    ([long, { short, value }]) => `${short ? `-${short}, ` : ""}--${long}${value ? ` ${value}` : ""}`,
  );
}

/** What stands under each heading of that level, by the heading. */
function sections(text: string, level: string): Map<string, string> {
  const [, ...parts] = `\n${text}`.split(`\n${level}`);
  return new Map(parts.map((part) => [part.split("\n")[0] ?? "", part.slice(part.indexOf("\n"))]));
}

test("the reference of the verbs is complete, and names nothing that is not there", () => {
  expect(faultsOf(page, verbs).map((fault) => `docs/verbs.md: ${fault}`)).toEqual([]);
});

test("a verb that is not described yet is told with all that is to be added", () => {
  const verb: Verb = {
    ...{ summary: "", help: "", equals: "pulumi new", run: async () => 0 },
    options: { force: { short: "f", says: "" }, to: { value: "FILE", says: "" } },
  };
  expect(faultsOf(page, { ...verbs, another: verb })).toEqual([
    'The verb another has no section: under "## Verbs", add "### `another`" with what it does, a line "Plain Pulumi: ' +
      'pulumi new", a table with the rows | `-f, --force` | ... | | `--to FILE` | ... |, and its JSON form, if it has one.',
  ]);
});

test("what is described and has changed or gone is told", () => {
  const { list, env, ...others } = verbs;
  const changed = { ...others, ...(list && { list: { ...list, equals: "nothing", options: {} } as Verb }) };
  expect(faultsOf(page, changed)).toEqual([
    'The section of list must have a line "Plain Pulumi: nothing", where it has "pulumi stack ls".',
    '"list" has a row `-o, --output FORMAT` that is no more.',
    "There is no verb env: remove its section.",
  ]);
  expect(env).toBeDefined();
});
