/**
 * `graph`: the model of the cluster that the stack's configuration describes. From rendering alone: asks no cloud and no
 * Pulumi, and writes nothing.
 */
import type { Arguments } from "./arguments";
import { graphOf, graphText } from "./graph-text";
import { library } from "./library";
import { printAs } from "./output";
import { print } from "./print";
import { locateStack } from "./session";
import { shortName } from "./stack";
import { asTexts, nextConfig } from "./stack-config";

export interface GraphArguments extends Arguments {
  readonly options: { readonly output: string | undefined };
}

export async function graph(args: GraphArguments): Promise<number> {
  const stack = await locateStack(args);
  const made = library();
  const project = stack.project.name;
  const name = shortName(stack.name);
  const spec = { name, ...made.settingsIn(asTexts(await nextConfig(stack)), project) };
  const value = { stack: stack.name, parts: graphOf(made.clusterModel({ project, stack: name })(spec), made) };
  if (args.options.output === "svg") {
    const { graphDrawing } = await import("./graph-drawing");
    await print(graphDrawing(value));
  } else {
    await printAs(args.options.output, { value, table: () => graphText(value) });
  }
  return 0;
}
