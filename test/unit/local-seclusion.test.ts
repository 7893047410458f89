/** Containers do not see the person's proxies; a folder of any name can be shown in them. */
import { expect, it } from "vitest";
import { bindMount, proxyLines, withoutProxies } from "../../providers/local/seclusion";

it("no engine hands proxies to a container by itself", () => {
  expect(withoutProxies("podman")).toEqual(["--http-proxy=false"]);
  const emptied = withoutProxies("docker").filter((argument) => argument !== "--env");
  expect(emptied).toHaveLength(10);
  expect(emptied).toContain("https_proxy=");
  expect(emptied.every((argument) => /^[A-Za-z_]+=$/.test(argument))).toBe(true);
});

it.each([
  [{}, ""],
  [{ https_proxy: "http://a:b@c:1", NO_PROXY: "d, e" }, "https_proxy=http://a:b@c:1\nNO_PROXY=d, e\n"],
  [{ HTTP_PROXY: "", PATH: "/bin", all_proxy: "one\nBASH_ENV=two" }, ""],
])("of %j a program in a container reads %j", (environment, lines) => {
  expect(proxyLines(environment).split("\n").sort()).toEqual(lines.split("\n").sort());
});

it("a path with any character is one value of the mount", () => {
  expect(bindMount('/a, "b"\nc', "/d")).toEqual(["--mount", 'type=bind,"source=/a, ""b""\nc",target=/d,readonly']);
});
