/**
 * A program made from recorded rows: every resource with the very inputs and edges that it had, so that a run of it changes
 * only what has come to differ from them. What takes values from a row that is gone takes them from the former model.
 */
import {
  all,
  ComponentResource,
  CustomResource,
  type CustomResourceOptions,
  type Input,
  type Inputs,
  type Output,
  ProviderResource,
  type Resource,
} from "@pulumi/pulumi";
import type { Model, Part } from "../cloud/model";
import type { StateRow } from "../cloud/stack-engine";
import { propertyOf, resolveInput } from "../components/tree";
import { programValue } from "./recorded-values";

export interface RecordedProgram {
  /** The rows with their secrets readable, each behind those that it needs. */
  readonly rows: readonly StateRow[];
  /** URNs of those that are gone. */
  readonly lost: readonly string[];
  /** The former model, and the row of each of its parts. */
  readonly model?: Model | undefined;
  urnOf(model: Model, index: number): string;
}

const stackType = "pulumi:pulumi:Stack";
const providerPrefix = "pulumi:providers:";

/** @returns the program, as the Automation API runs it */
export function recordedProgram(recorded: RecordedProgram): () => Promise<Record<string, unknown>> {
  return async () => new RecordedTree(recorded).build();
}

/** Any resource, with all that was recorded of it as outputs. */
class RecordedResource extends CustomResource {}
class RecordedProvider extends ProviderResource {}

class RecordedTree {
  private readonly made = new Map<string, Resource>();
  private readonly rows: ReadonlyMap<string, StateRow>;
  /** Rows whose values are not what is recorded: those that are gone, and those that take from such. */
  private readonly uncertain: Set<string>;
  private readonly parts: ReadonlyMap<string, Part>;

  constructor(private readonly recorded: RecordedProgram) {
    this.rows = new Map(recorded.rows.map((row) => [row.urn, row]));
    this.uncertain = new Set(recorded.lost);
    const { model } = recorded;
    const parts = model === undefined ? [] : [...model.resources()];
    this.parts = new Map(parts.map(([index, part]) => [recorded.urnOf(model as Model, index), part]));
  }

  build(): Record<string, unknown> {
    let outputs: Record<string, unknown> = {};
    for (const row of this.recorded.rows) {
      if (row.type === stackType) {
        outputs = this.values(row.outputs);
      } else if (!isDefaultProvider(row)) {
        this.made.set(row.urn, this.make(row));
      }
    }
    return outputs;
  }

  private make(row: StateRow): Resource {
    const name = row.urn.split("::").slice(3).join("::");
    const options = this.optionsOf(row);
    if (row.type.startsWith(providerPrefix)) {
      const { version: _version, ...inputs } = this.values(row.inputs);
      return new RecordedProvider(row.type.slice(providerPrefix.length), name, inputs, options);
    }
    if (row.custom) {
      const outputs = Object.keys(row.outputs ?? {}).filter((key) => key !== "id" && !key.startsWith("__"));
      // A property that the constructor does not name never becomes an output.
      const named = Object.fromEntries(outputs.map((key) => [key, undefined]));
      return new RecordedResource(row.type, name, { ...named, ...this.inputsOf(row) }, options);
    }
    const component = new ComponentResource(row.type, name, this.values(row.inputs), options);
    (component as unknown as { registerOutputs(outputs: Inputs): void }).registerOutputs(this.values(row.outputs));
    return component;
  }

  private inputsOf(row: StateRow): Inputs {
    const part = this.parts.get(row.urn);
    return Object.fromEntries(
      Object.entries(row.inputs ?? {}).map(([property, value]) => {
        const givers = row.propertyDependencies?.[property] ?? [];
        const isUncertain = givers.some((urn) => this.uncertain.has(urn));
        if (isUncertain) {
          this.uncertain.add(row.urn);
        }
        const fromModel = isUncertain ? part?.inputs[property] : undefined;
        return [
          property,
          fromModel === undefined
            ? this.asGiven(givers, this.value(value))
            : resolveInput(fromModel, ({ index, property: given }) => this.given(index, given)),
        ];
      }),
    );
  }

  /** The value, with the edges to those that gave it. */
  private asGiven(givers: readonly string[], value: unknown): Input<unknown> {
    const from = givers.flatMap((urn) => this.made.get(urn) ?? []);
    return from.length === 0 ? value : all(from.map(({ urn }) => urn)).apply(() => value);
  }

  /** What a part of the model gives to another. */
  private given(index: number, property: string): Output<unknown> {
    const urn = this.recorded.urnOf(this.recorded.model as Model, index);
    const resource = this.made.get(urn);
    if (!(resource instanceof CustomResource)) {
      throw new Error(`${urn.split("::").pop()}, from which "${property}" is taken, is not recorded`);
    }
    return propertyOf(resource, property);
  }

  private optionsOf(row: StateRow): CustomResourceOptions {
    const { parent, dependencies = [], deletedWith, protect, retainOnDelete, external, id } = row;
    const needed = dependencies.flatMap((urn) => this.made.get(urn) ?? []);
    const owner = parent === undefined ? undefined : this.made.get(parent);
    const goesWith = deletedWith === undefined ? undefined : this.made.get(deletedWith);
    return {
      ...(owner && { parent: owner }),
      ...(needed.length > 0 && { dependsOn: needed }),
      ...(goesWith && { deletedWith: goesWith }),
      ...(protect && { protect }),
      ...(retainOnDelete && { retainOnDelete }),
      ...(external === true && id !== undefined && { id }),
      ...this.furtherOptions(row),
      ...this.providerOption(row),
    };
  }

  private furtherOptions({ additionalSecretOutputs, customTimeouts, ignoreChanges }: StateRow): CustomResourceOptions {
    return {
      ...(isTexts(additionalSecretOutputs) && { additionalSecretOutputs }),
      ...(isTexts(ignoreChanges) && { ignoreChanges }),
      ...(typeof customTimeouts === "object" && customTimeouts !== null && timeoutsOption(customTimeouts)),
    };
  }

  /** A provider of the program's own, or the version of the one that the engine gives by itself. */
  private providerOption({ provider }: StateRow): CustomResourceOptions {
    const row = provider === undefined ? undefined : this.rows.get(provider.slice(0, provider.lastIndexOf("::")));
    if (row === undefined) {
      return {};
    }
    const made = this.made.get(row.urn);
    if (made instanceof ProviderResource) {
      return { provider: made };
    }
    const { version, pluginDownloadURL } = row.inputs ?? {};
    return {
      ...(typeof version === "string" && { version }),
      ...(typeof pluginDownloadURL === "string" && { pluginDownloadURL }),
    };
  }

  private values(properties: StateRow["inputs"] = {}): Record<string, Input<unknown>> {
    return Object.fromEntries(Object.entries(properties).map(([key, value]) => [key, this.value(value)]));
  }

  private value(value: unknown): unknown {
    return programValue(value, (urn) => this.made.get(urn));
  }
}

/** The engine makes its default providers by itself. */
function isDefaultProvider({ type, urn }: StateRow): boolean {
  return type.startsWith(providerPrefix) && /::default(_[^:]*)?$/.test(urn);
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.length > 0 && value.every((one) => typeof one === "string");
}

/** Seconds in the state, texts such as "90s" in a program. */
function timeoutsOption(timeouts: object): CustomResourceOptions {
  const entries = Object.entries(timeouts).filter(([, seconds]) => typeof seconds === "number" && seconds > 0);
  return entries.length === 0
    ? {}
    : { customTimeouts: Object.fromEntries(entries.map(([verb, seconds]) => [verb, `${seconds}s`])) };
}
