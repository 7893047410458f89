/**
 * What a verb prints, in the form that the person has chosen: a table for a person, JSON or YAML for a program.
 */
import { print } from "./print";

export interface Printed {
  /** What a program gets. Its form is documented in the verb's help and is kept. */
  readonly value: unknown;
  /** What a person gets. */
  readonly table: () => string;
}

/** @param format the value of `--output` */
export async function printAs(format: string | undefined, { value, table }: Printed): Promise<void> {
  if (format === "json") {
    return print(`${JSON.stringify(value, undefined, 2)}\n`);
  }
  if (format === "yaml") {
    // Through JSON, so that both hold the very same.
    const { yamlText } = await import("../cloud/yaml");
    return print(yamlText(JSON.parse(JSON.stringify(value))));
  }
  return print(table());
}
