/**
 * A Resource: one thing in a cloud or on a machine, with kubicorn's four verbs.
 * It knows nothing of Pulumi; components/dynamic binds it to the engine.
 */
import type { ZodType } from "zod";
import type { Violation } from "./errors";
import { canonicalText } from "./json";

/** What a Resource may use while one of its verbs runs. */
export interface Context {
  /** Given when the run is interrupted or the engine is gone. */
  readonly signal: AbortSignal;
  /** Whether the run is about a part of the stack only, so that one thing's going does not mean that all go. @default false */
  readonly isPartial?: boolean;
  /** Shows what is being done on the resource's own row. Must hold no secret. */
  progress(message: string): void;
  /** Tells something that stays under the resource's row after the run. Must hold no secret. */
  warn(message: string): void;
}

/** What `apply` may use besides: the place to record a thing as soon as it exists. */
export interface ApplyContext<Actual> extends Context {
  /**
   * Records the identity of what was just made. If a later step fails, the engine keeps this record,
   * and the next run continues from it instead of making the thing again.
   */
  made(id: string, actual: Actual): void;
}

/** A thing as the engine's state has it. */
export interface Recorded<Actual> {
  /** The owner's own name for the thing; never empty. */
  readonly id: string;
  readonly actual: Actual;
}

/** One named difference between what is and what should be. */
export interface Fact {
  /** What would be done, as in `replaceImage` or `updateLabels`. */
  readonly name: string;
  /** The input that asks for it. */
  readonly property: string;
  readonly action: "update" | "replace";
  /** A sentence for the person about what this means, shown on the thing's row in preview and in `up`. Must hold no secret. */
  readonly note?: string;
}

/** All differences; empty means that nothing has to be done. */
export type Plan = readonly Fact[];

/**
 * One kind of thing.
 *
 * @typeParam Expected its validated inputs
 * @typeParam Actual its inputs and what only the thing itself can tell; plain JSON
 */
export interface Resource<Expected extends object, Actual extends Expected> {
  /** kubicorn's Expected: validates the inputs and fills in defaults. */
  readonly expected: ZodType<Expected>;

  /**
   * What stands in the way of making the thing, as far as a look at its surroundings tells: it is run before anything is
   * made, also for a preview. A look that fails foresees nothing.
   *
   * @param known the inputs, without those that are not known yet
   * @param former the inputs that the recorded thing was made from; `undefined` where none is recorded
   */
  foresee?(known: Partial<Expected>, former: Partial<Expected> | undefined): Promise<readonly Violation[]>;

  /** Names of properties of Actual that are secret even where no secret input made them so. */
  readonly secrets: readonly (keyof Actual & string)[];

  /**
   * Inputs that stay what they are for as long as the thing lives, each with the setting by which a person knows it, as
   * in `{ pods: "network.pods" }`. A change is refused before anything is done, also in a preview; none is no change.
   */
  readonly fixed?: Readonly<Partial<Record<keyof Expected & string, string>>>;

  /**
   * True where the old thing must go before its replacement can be made, since both have the same name. Pure.
   * @default true
   */
  readonly deleteBeforeReplace?: boolean | ((actual: Actual, expected: Expected) => boolean);

  /**
   * kubicorn's Actual: looks at the real thing. `undefined` says that it is gone, and only its owner can
   * prove that; where the owner cannot be reached, gives back what is recorded and warns.
   */
  actual(recorded: Recorded<Actual>, context: Context): Promise<Actual | undefined>;

  /** The differences between what is recorded and what is expected. Pure. */
  plan(actual: Actual, expected: Expected): Plan;

  /**
   * kubicorn's Apply: makes the thing, or brings the recorded one to what is expected.
   * Safe to run again after a crash half-way: it finds and finishes what it made before.
   */
  apply(
    expected: Expected,
    recorded: Recorded<Actual> | undefined,
    context: ApplyContext<Actual>,
  ): Promise<Recorded<Actual>>;

  /**
   * What an interrupted `apply` with these inputs has made, by the name that it always has; `undefined` where it has made
   * nothing. A kind whose making leaves nothing outside does without.
   */
  begun?(expected: Expected, context: Context): Promise<Recorded<Actual> | undefined>;

  /** kubicorn's Delete: removes the thing. Already gone is success. */
  delete(recorded: Recorded<Actual>, context: Context): Promise<void>;
}

/** A Resource of any kind, as a registry holds it. */
// biome-ignore lint/suspicious/noExplicitAny: Resource is invariant, so no narrower type covers every kind.
export type AnyResource = Resource<any, any>;

/** Resources by kind, as in `local:Machine`. */
export type ResourceRegistry = Readonly<Record<string, () => AnyResource>>;

/**
 * A plan from a table of properties: which of them can be updated in place and which need a replacement.
 * Properties that the table does not name concern only how the thing was made, and never change it.
 *
 * @param factNames the fact a property's difference is, as in `{ image: { replace: "replaceImage" } }`
 */
export function planByProperty<Expected extends object>(
  factNames: Partial<Record<keyof Expected & string, { update: string } | { replace: string }>>,
  actual: Expected,
  expected: Expected,
): Plan {
  const facts: Fact[] = [];
  for (const property of Object.keys(factNames) as (keyof Expected & string)[]) {
    const fact = factNames[property];
    if (fact && canonicalText(actual[property]) !== canonicalText(expected[property])) {
      facts.push(
        "replace" in fact
          ? { name: fact.replace, property, action: "replace" }
          : { name: fact.update, property, action: "update" },
      );
    }
  }
  return facts;
}
