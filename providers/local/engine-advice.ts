/**
 * What the person can do about an engine that refuses as a whole: it is stopped, its store is held by another program, it
 * keeps this user out. Pure.
 */
import type { EngineName } from "./engine";

interface Advice {
  readonly on: RegExp;
  readonly say: Readonly<Record<EngineName, string>>;
}

const advice: readonly Advice[] = [
  {
    on: /permission denied.*(\.sock|docker daemon)|(\.sock|docker daemon).*permission denied/i,
    say: {
      podman: "This user may not talk to podman. Run as root.",
      docker: 'This user may not talk to docker. Run as root, or add the user to the group "docker" and log in anew.',
    },
  },
  {
    on: /cannot connect to|is the docker daemon running/i,
    say: {
      podman: 'Start it: "podman machine start", or "systemctl start podman.socket" where it is remote.',
      docker: 'Docker is not running. Start it: "systemctl start docker", or Docker Desktop.',
    },
  },
  {
    on: /database is locked|resource temporarily unavailable|(acquiring|obtain\w*|get\w*) .*lock/i,
    say: {
      podman: "Another program holds podman's store. Wait until it has ended, or end it.",
      docker: "Another program holds docker's store. Wait until it has ended, or end it.",
    },
  },
  {
    on: /newuidmap|newgidmap|cannot (clone|re-exec)|user namespaces/i,
    say: {
      podman: "Machines need what only root may. Run as root.",
      docker: "Machines need what only root may. Use the docker of the whole computer, not a rootless one.",
    },
  },
  {
    on: /no space left on device/i,
    say: {
      podman: 'The disk with podman\'s store is full. "podman system df" tells what of it can go.',
      docker: 'The disk with docker\'s store is full. "docker system df" tells what of it can go.',
    },
  },
  {
    on: /unknown (short)?\s?(flag|command)|unrecognized command|unknown shorthand/i,
    say: {
      podman: "This podman is older than what machines need: podman 4 or later.",
      docker: "This docker is older than what machines need: docker 20.10 or later.",
    },
  },
];

/** The engine's words, and after them what can be done, where it is known. */
export function withAdvice(name: EngineName, words: string): string {
  const found = advice.find(({ on }) => on.test(words));
  return found === undefined ? words : `${words}\n${found.say[name]}`;
}
