/**
 * The known word that a misspelt one most likely means, by how few letters apart they are. Pure.
 */
import { distance } from "fastest-levenshtein";

/** At most so much of a word may be wrong, else it is another one. */
const tolerance = 0.4;

/** The known word that is most like the given one, if any is like it; capitals do not matter. */
export function similarWord(word: string, known: Iterable<string>): string | undefined {
  const apart = (other: string) => distance(word.toLowerCase(), other.toLowerCase());
  const [nearest] = [...known].sort((left, right) => apart(left) - apart(right));
  return nearest !== undefined && apart(nearest) <= nearest.length * tolerance ? nearest : undefined;
}
