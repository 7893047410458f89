// The baseline: a plain Pulumi program with as many trivial dynamic resources as BENCH_COUNT says.
import * as pulumi from "@pulumi/pulumi";

const provider: pulumi.dynamic.ResourceProvider = {
  async create(inputs) {
    return { id: inputs.name, outs: inputs };
  },
};

class Thing extends pulumi.dynamic.Resource {}

for (let index = 0; index < Number(process.env.BENCH_COUNT); index++) {
  new Thing(provider, `thing-${index}`, {
    name: `thing-${index}`,
  });
}
