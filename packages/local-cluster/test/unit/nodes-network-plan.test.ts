import { describe, expect, test } from "vitest";

import { mountsBelow, parseMountTable } from "../../src/nodes/cgroups.ts";
import {
  hubCommands,
  hubLink,
  nodeAddress,
  nodeCommands,
  plugNodeCommands,
  podSubnet,
  serviceRouteCommand,
} from "../../src/nodes/network.ts";
import { parseRelayEndpoint } from "../../src/nodes/relay-endpoint.ts";

describe("the cluster's network", () => {
  test("has no link to the machine's own", () => {
    const links = [...hubCommands(), ...plugNodeCommands(1, "/ns"), ...nodeCommands(1, 1)].filter((line) =>
      line.startsWith("link add"),
    );
    expect(links).toEqual([
      "link add cluster type bridge",
      "link add node1 type veth peer name eth0 netns /ns",
    ]);
  });

  test("a node reaches the pods of all others directly and the rest by way of the hub", () => {
    expect(nodeCommands(2, 3).filter((line) => line.startsWith("route"))).toEqual([
      "route add default via 172.30.0.1",
      "route add 10.244.1.0/24 via 172.30.0.11",
      "route add 10.244.3.0/24 via 172.30.0.13",
    ]);
  });

  test.each([
    { name: "its only node", given: 1, want: "route replace 10.96.0.0/16 via 172.30.0.11" },
    {
      name: "any of its nodes",
      given: 2,
      want: "route replace 10.96.0.0/16 nexthop via 172.30.0.11 nexthop via 172.30.0.12",
    },
  ])("the hub reaches Services over $name", ({ given, want }) => {
    expect(serviceRouteCommand("10.96.0.0/16", given)).toBe(want);
  });

  test("the last node still has addresses and a name for its link", () => {
    expect(nodeAddress(200)).toBe("172.30.0.210");
    expect(podSubnet(200)).toBe("10.244.200.0/24");
    expect(hubLink(200).length).toBeLessThanOrEqual(15);
  });
});

describe("a mount table", () => {
  const table = parseMountTable(
    [
      "22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw",
      "30 22 0:4 net:[1] /c/ns/hub.net rw - nsfs nsfs rw",
      "31 22 0:5 / /c\\040d/x rw shared:7 master:2 - cgroup2 cgroup rw",
      "32 22 0:6 / /c/ns/hub.net/deep rw - tmpfs tmpfs rw",
      "33 22 0:6 / /cc rw - tmpfs tmpfs rw",
      "",
    ].join("\n"),
  );

  test("is read whatever the number of its optional fields, with blanks in paths", () => {
    expect(table.map(({ mountPoint, fileSystem }) => `${fileSystem} ${mountPoint}`)).toEqual([
      "ext4 /",
      "nsfs /c/ns/hub.net",
      "cgroup2 /c d/x",
      "tmpfs /c/ns/hub.net/deep",
      "tmpfs /cc",
    ]);
  });

  test("gives what is below a directory, last mounted first, and no neighbour of a similar name", () => {
    expect(mountsBelow("/c", table)).toEqual(["/c/ns/hub.net/deep", "/c/ns/hub.net"]);
  });
});

describe("an endpoint of a relay", () => {
  test.each([
    { given: "tcp:127.0.0.1:6443", want: { host: "127.0.0.1", port: 6443 } },
    { given: "unix:/a/b.sock", want: { path: "/a/b.sock" } },
  ])("$given", ({ given, want }) => {
    expect(parseRelayEndpoint(given)).toEqual(want);
  });

  test.each(["", "tcp:6443", "unix:relative", "http://x"])("refuses %j", (given) => {
    expect(() => parseRelayEndpoint(given)).toThrow(/neither/);
  });
});
