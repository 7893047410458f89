/**
 * local:PoolImage: an image that a pool names for its machines. It is looked up when the setting changes, and kept: a tag
 * that means another image later replaces nothing.
 */
import { z } from "zod";
import { UserError } from "../../cloud/errors";
import { planByProperty, type Resource } from "../../cloud/resource";
import { type ContainerEngine, containerEngine, engineNames, isAbsent } from "./engine";

const expected = z.strictObject({
  pool: z.string(),
  /** The image as the person names it. */
  reference: z.string(),
  engine: z.enum(engineNames),
});

export type PoolImageExpected = z.output<typeof expected>;

export interface PoolImageActual extends PoolImageExpected {
  /** The engine's own id of the image, which never means another one. */
  readonly image: string;
}

export const poolImage: Resource<PoolImageExpected, PoolImageActual> = {
  expected,
  secrets: [],

  async foresee({ pool, reference, engine }, former) {
    if (!pool || !reference || !engine || (former?.reference === reference && former.engine === engine)) {
      return [];
    }
    const found = await idOf(containerEngine(engine), reference);
    return found === undefined
      ? [{ path: `image of pool ${pool}`, value: reference, allowed: whatIsAllowed(engine, reference) }]
      : [];
  },

  // It is the person's own; machines that were made from it do not need it any more.
  actual: async ({ actual }) => actual,

  plan: (actual, wanted) =>
    planByProperty({ reference: { update: "updateReference" }, engine: { update: "updateEngine" } }, actual, wanted),

  async apply(wanted, recorded) {
    const { pool, reference, engine } = wanted;
    const image = await idOf(containerEngine(engine), reference);
    if (image === undefined) {
      throw new UserError(
        `The image of pool ${pool} (pools[].image) is "${reference}", and ${whatIsAllowed(engine, reference)}. ` +
          "Nothing of the pool was changed.",
      );
    }
    return { id: recorded?.id ?? pool, actual: { ...wanted, image } };
  },

  delete: async () => undefined,
};

function whatIsAllowed(engine: string, reference: string): string {
  return (
    `${engine} has no image of that name; build it, or fetch it (${engine} pull ${reference}), ` +
    "or leave the setting out for the standard image"
  );
}

/** The engine's id of the image; `undefined` where it has none of that name. */
async function idOf(engine: ContainerEngine, reference: string): Promise<string | undefined> {
  try {
    const format = ["--format", "{{.Id}}"];
    return (await engine.run(`looking for image ${reference}`, ["image", "inspect", ...format, reference])).trim();
  } catch (error) {
    if (isAbsent(error)) {
      return undefined;
    }
    throw error;
  }
}
