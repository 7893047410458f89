/**
 * The provider's side of the binding: the engine's check, diff, create, read, update and delete
 * as a Resource's expected, plan, apply, actual, apply and delete.
 */
import { createRequire } from "node:module";
import { describeViolation, messageOf, type Violation } from "../../cloud/errors";
import { fixedViolations } from "../../cloud/fixed";
import { toPlainJson } from "../../cloud/json";
import type { AnyResource, Recorded, ResourceRegistry } from "../../cloud/resource";
import { rollout } from "../../cloud/rollout";
import { violationsOf } from "../../cloud/spec-parse";
import { resources as ownResources } from "../resources";
import { InUse } from "./in-use";
import { quietly } from "./noise";
import { interruptFileVariable, Session } from "./session";
import { asSecret, holdsUnknown, internalKeys } from "./shim";

type Properties = Record<string, unknown>;

let session: Session | undefined;
const inUse = new InUse();

function currentSession(): Session {
  // Only a provider process has the engine's address on its command line.
  const address = process.argv[1]?.includes("dynamic-provider") ? process.argv[2] : undefined;
  session ??= new Session(address, process.env[interruptFileVariable]);
  return session;
}

/** What the engine's dynamic provider calls, for every kind. */
export const dynamicHandler = {
  async check(olds: Properties, news: Properties) {
    return quietly(async () => {
      rollout.seen();
      const { inputs, internals } = split(news);
      inUse.expect(placeOf(internals));
      const resource = resourceOf(internals);
      const parsed = resource.expected.safeParse(inputs);
      const refused = [
        ...(parsed.success ? [] : violationsOf(parsed.error, inputs).filter(isKnown(inputs))),
        ...fixedViolations(resource.fixed ?? {}, split(olds).inputs, knownOf(inputs)),
      ];
      const violations = refused.length > 0 ? refused : await foreseen(resource, inputs, split(olds).inputs);
      return {
        inputs: parsed.success ? { ...(parsed.data as Properties), ...internals } : news,
        failures: violations.map((violation) => failureOf(violation, inputs)),
      };
    });
  },

  async diff(id: string, olds: Properties, news: Properties) {
    return quietly(() => {
      rollout.seen();
      const resource = resourceOf(news);
      if (olds[internalKeys.unfinished]) {
        // Made as if for the first time, by which it is adopted; of the unfinished one nothing is left then to remove.
        return { changes: true, replaces: [internalKeys.unfinished], deleteBeforeReplace: false };
      }
      const [actual, wanted] = [split(olds).inputs, split(news).inputs];
      const plan = resource.plan(actual, wanted);
      const replaces = plan.filter(({ action }) => action === "replace").map(({ property }) => property);
      if (inUse.isExpected(placeOf(news))) {
        inUse[replaces.length > 0 ? "release" : "keep"](placeOf(news), id);
      }
      for (const { note } of plan) {
        if (note !== undefined) {
          currentSession().note(news[internalKeys.row], note);
        }
      }
      const { deleteBeforeReplace = true } = resource;
      return {
        changes: plan.length > 0,
        replaces,
        deleteBeforeReplace:
          typeof deleteBeforeReplace === "function" ? deleteBeforeReplace(actual, wanted) : deleteBeforeReplace,
      };
    });
  },

  async create(news: Properties) {
    const { id, outs } = await apply(news, undefined);
    return { id, outs };
  },

  async update(id: string, olds: Properties, news: Properties) {
    const result = await apply(news, { id, actual: split(olds).inputs });
    if (result.id !== id) {
      throw new Error(`${news[internalKeys.kind]} changed its identity in an update, from ${id} to ${result.id}`);
    }
    return { outs: result.outs };
  },

  async read(id: string, props: Properties) {
    const { inputs, internals } = split(props);
    const resource = resourceOf(internals);
    if (internals[internalKeys.unfinished]) {
      return { id, props };
    }
    const actual = await currentSession().run(internals[internalKeys.row], (context) =>
      resource.actual({ id, actual: inputs }, context).catch((error: unknown) => {
        // What could not be looked at is not gone: a refresh keeps what is recorded and goes on.
        context.warn(`could not be looked at, so what is recorded stays: ${messageOf(error)}`);
        return inputs;
      }),
    );
    return actual === undefined ? { id: "", props: {} } : { id, props: record(resource, actual, internals) };
  },

  async delete(id: string, props: Properties) {
    return quietly(async () => {
      const { inputs, internals } = split(props);
      const resource = resourceOf(internals);
      await currentSession().run(internals[internalKeys.row], async (context) => {
        const isUnfinished = internals[internalKeys.unfinished] === true;
        const recorded = isUnfinished ? await resource.begun?.(inputs, context) : { id, actual: inputs };
        if (recorded && !inUse.has(placeOf(internals), recorded.id)) {
          await resource.delete(recorded, context);
        }
      });
    });
  },
};

/** The engine shows an input's value by itself; of a setting that is none of the inputs the sentence has to tell all. */
function failureOf(violation: Violation, inputs: Properties): { property: string; reason: string } {
  const { path, allowed } = violation;
  return inputOf(path) in inputs
    ? { property: path, reason: allowed }
    : { property: "", reason: describeViolation(violation) };
}

/** The input that a path begins with. */
function inputOf(path: string): string {
  return path.split(/[.[]/)[0] ?? "";
}

function isKnown(inputs: Properties): (violation: Violation) => boolean {
  return ({ path }) => !holdsUnknown(inputs[inputOf(path)]);
}

/** What the Resource foresees from what is known of its inputs. */
async function foreseen(resource: AnyResource, inputs: Properties, olds: Properties): Promise<readonly Violation[]> {
  const former = Object.keys(olds).length === 0 ? undefined : olds;
  // It only tells earlier what the making would tell too.
  return (await resource.foresee?.(knownOf(inputs), former).catch(() => [])) ?? [];
}

function knownOf(inputs: Properties): Properties {
  return Object.fromEntries(Object.entries(inputs).filter(([, value]) => !holdsUnknown(value)));
}

/** The row that the properties are of; where it has no parent, its kind must do. */
function placeOf(properties: Properties): string {
  return String(properties[internalKeys.row] ?? properties[internalKeys.kind]);
}

async function apply(news: Properties, recorded: Recorded<Properties> | undefined) {
  const { inputs, internals } = split(news);
  const resource = resourceOf(internals);
  let made = recorded;
  const keep = (id: string, actual: Properties) => {
    // A copy, so that what the Resource adds later cannot make the record one that the engine refuses.
    made = { id, actual: toPlainJson(actual, String(internals[internalKeys.kind])) as Properties };
    inUse.keep(placeOf(internals), id);
  };
  try {
    const { id, actual } = await currentSession().run(internals[internalKeys.row], (context) =>
      resource.apply(inputs, recorded, { ...context, made: keep }),
    );
    inUse.keep(placeOf(internals), id);
    return { id, outs: record(resource, actual, internals) };
  } catch (error) {
    throw made === undefined ? error : partialFailure(error, made, resource, internals);
  }
}

/** The error by which the engine keeps a half-made thing; it prints the reasons and not the message. */
function partialFailure(error: unknown, made: Recorded<Properties>, resource: AnyResource, internals: Properties) {
  const reason = messageOf(error);
  return Object.assign(new Error(reason), {
    id: made.id,
    properties: record(resource, made.actual, internals),
    reasons: [reason],
  });
}

/** The properties as the engine's state keeps them: plain JSON, secrets wrapped, with the binding's own keys. */
function record(resource: AnyResource, actual: Properties, internals: Properties): Properties {
  const plain = toPlainJson(actual, String(internals[internalKeys.kind])) as Properties;
  for (const key of resource.secrets) {
    if (plain[key] !== undefined) {
      plain[key] = asSecret(plain[key]);
    }
  }
  return { ...plain, ...internals };
}

function split(properties: Properties): { inputs: Properties; internals: Properties } {
  const entries = Object.entries(properties);
  return {
    inputs: Object.fromEntries(entries.filter(([key]) => !key.startsWith("__"))),
    internals: Object.fromEntries(entries.filter(([key]) => key.startsWith("__") && key !== "__defaults")),
  };
}

function resourceOf(properties: Properties): AnyResource {
  const kind = String(properties[internalKeys.kind]);
  const library = properties[internalKeys.library];
  const registry = typeof library === "string" ? loadRegistry(library) : ownResources;
  const resource = registry[kind]?.();
  if (resource === undefined) {
    const where = typeof library === "string" ? library : "this version of pulumi-kubicorn";
    throw new Error(`There is no resource of the kind "${kind}" in ${where}.`);
  }
  return resource;
}

function loadRegistry(library: string): ResourceRegistry {
  return createRequire(`${process.cwd()}/package.json`)(library).resources;
}
