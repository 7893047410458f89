/**
 * Merging one cluster's kubeconfig into a file that holds others: this cluster's entries are replaced, the others, their
 * order and the person's comments stay as they are.
 */
import { type Document, isMap, isSeq, parseDocument, type YAMLMap, YAMLSeq } from "yaml";
import { UserError } from "../cloud/errors";

export interface MergeOptions {
  /** The file that is merged into, for messages. */
  readonly file: string;
  /** Whether the current context changes, where there is one. */
  readonly switch: boolean;
}

const kinds = ["clusters", "contexts", "users"] as const;

/**
 * @param present what the file holds; empty when there is none
 * @param added the kubeconfig of one cluster
 * @returns the new content, the entries that stood there with other values, as in "user dev", and the added context's name
 */
export function mergeKubeconfig(
  present: string,
  added: string,
  options: MergeOptions,
): { merged: string; replaced: string[]; name: string } {
  const target = parseDocument(present);
  const source = parseDocument(added);
  if (target.errors[0] || (target.contents !== null && !isMap(target.contents))) {
    const why = target.errors[0]?.message.split("\n")[0] ?? "it is not a kubeconfig";
    throw new UserError(`${options.file} cannot be merged into: ${why}. Nothing was changed.`);
  }
  const name = String(source.get("current-context"));
  if (target.contents === null) {
    return { merged: added, replaced: [], name };
  }
  const replaced = kinds.flatMap((kind) => mergeEntries(target, source, kind));
  if (options.switch) {
    target.set("current-context", source.get("current-context", true));
  }
  return { merged: target.toString({ lineWidth: 0 }), replaced, name };
}

function mergeEntries(target: Document, source: Document, kind: (typeof kinds)[number]): string[] {
  const entries = entriesOf(target, kind);
  const replaced: string[] = [];
  for (const entry of entriesOf(source, kind).items) {
    const name = nameOf(entry);
    const at = entries.items.findIndex((present) => nameOf(present) === name);
    if (at < 0) {
      entries.add(entry);
    } else {
      if (String(entries.items[at]) !== String(entry)) {
        replaced.push(`${kind.slice(0, -1)} ${name}`);
      }
      entries.items[at] = entry;
    }
  }
  if (!isSeq(target.get(kind))) {
    target.set(kind, entries);
  }
  return replaced;
}

function entriesOf(document: Document, kind: string): YAMLSeq<unknown> {
  const entries = document.get(kind);
  return isSeq(entries) ? entries : new YAMLSeq();
}

function nameOf(entry: unknown): unknown {
  return isMap(entry) ? (entry as YAMLMap).get("name") : undefined;
}
