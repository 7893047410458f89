/** Room on the disk of the engine's store: too little is told before a machine is begun. */
import { afterEach, describe, expect, it } from "vitest";
import { requireDiskSpace, spaceProblem } from "../../providers/local/disk-space";
import { containerEngine } from "../../providers/local/engine";
import { EngineProgram } from "../doubles/engine-program";

let program: EngineProgram | undefined;

afterEach(() => program?.remove());

describe("the disk of the engine's store", () => {
  it("has room enough with a GiB", () => {
    expect(spaceProblem("podman", "dev-workers-1", "/var/lib/containers/storage", 1024)).toBeUndefined();
  });

  it("is told with its folder, what is left and what to do, where it has less", () => {
    expect(spaceProblem("docker", "dev-workers-1", "/var/lib/docker", 12.7)).toBe(
      "Machine dev-workers-1 is not made: the disk with /var/lib/docker, where docker keeps machines, has 12 MiB left, " +
        'and a machine takes 1024 MiB. Make room ("docker system df" tells what can go) and run up again.',
    );
  });

  it("is looked at where the engine says, and one without any room refuses", async () => {
    program = new EngineProgram("podman", [{ to: "info", stdout: "/proc" }]);
    const refused = requireDiskSpace(containerEngine("podman"), "dev-workers-1");
    await expect(refused).rejects.toThrow(/the disk with \/proc, where podman keeps machines, has 0 MiB left/);
  });

  it("that nobody knows is no obstacle", async () => {
    program = new EngineProgram("docker", [{ to: "info", stdout: "/nowhere/of/another/machine" }]);
    await requireDiskSpace(containerEngine("docker"), "dev-workers-1");
  });
});
