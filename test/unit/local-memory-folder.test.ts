/** The folder in memory for what no disk should have. */
import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { withFolderInMemory } from "../../providers/local/memory-folder";

it("is entered by its user only, and is gone with what is in it after its use, also after a failure", async () => {
  const memory = mkdtempSync(join(tmpdir(), "memory "));
  const folders: string[] = [];
  const used = withFolderInMemory(async (folder = "") => {
    folders.push(folder);
    writeFileSync(join(folder, "left behind"), "a key");
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    throw new Error("the engine failed");
  }, memory);
  await expect(used).rejects.toThrow("the engine failed");
  expect(folders.map((folder) => existsSync(folder))).toEqual([false]);
  rmSync(memory, { recursive: true });
});

it("is none where this computer has no such place", async () => {
  expect(await withFolderInMemory(async (folder) => folder, "/nowhere")).toBeUndefined();
});
