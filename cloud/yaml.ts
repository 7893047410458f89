/**
 * YAML that all readers understand alike: cloud-init and Kubernetes read YAML 1.1, where `yes`, `on` or `1:30` without
 * quotes are no texts, and each library has its own idea of numbers and dates.
 */
import { Document, isScalar, visit } from "yaml";

/** What does not begin with a letter or as a path does, and the words that some reader takes for something else than a text. */
const ambiguous = /^([^A-Za-z/]|e[-+]?[0-9_]+$|(y|n|yes|no|on|off|true|false|null)$)/i;

/** The value as YAML text, every ambiguous text in quotes, and nothing referred to twice. */
export function yamlText(value: unknown): string {
  const document = new Document(value, { aliasDuplicateObjects: false });
  visit(document, {
    Scalar(_key, node) {
      if (
        isScalar(node) &&
        typeof node.value === "string" &&
        ambiguous.test(node.value) &&
        !node.value.includes("\n")
      ) {
        node.type = "QUOTE_DOUBLE";
      }
    },
  });
  return document.toString({ lineWidth: 0 });
}
