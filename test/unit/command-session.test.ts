import { describe, expect, it } from "vitest";
import { withoutProxy } from "../../bin/session";

describe("a proxy in the environment", () => {
  it.each([
    [{}, {}],
    [{ NO_PROXY: "example.com" }, {}],
    [{ HTTPS_PROXY: "http://proxy:3128" }, "127.0.0.1,localhost,::1"],
    [{ http_proxy: "http://proxy:3128", NO_PROXY: "example.com,localhost" }, "example.com,localhost,127.0.0.1,::1"],
    [{ ALL_PROXY: "socks5://proxy", no_proxy: "10.0.0.0/8" }, "10.0.0.0/8,127.0.0.1,localhost,::1"],
  ])("%j leaves what stays on this computer alone", (environment, expected) => {
    const wanted = typeof expected === "string" ? { NO_PROXY: expected, no_proxy: expected } : expected;
    expect(withoutProxy(environment)).toEqual(wanted);
  });
});
