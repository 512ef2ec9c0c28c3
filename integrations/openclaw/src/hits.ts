import type { ReadResult, SearchHit } from "./host.js";
import { Kioku, ServiceError, type Answer } from "./kioku.js";

/** Returns the passages of an answer as OpenClaw knows them. Lines are 1-based and inclusive in both. */
export function hits(answer: Answer): SearchHit[] {
  return answer.results.map(({ path, startLine, endLine, score, vectorScore, textScore, snippet }) => ({
    path,
    startLine,
    endLine,
    score,
    vectorScore,
    textScore,
    snippet,
    source: "memory" as const,
    citation: `${path}#L${startLine}${endLine === startLine ? "" : `-L${endLine}`}`,
  }));
}

/** Reads lines of a note. A note that does not exist is no error. */
export async function read(memory: Kioku, path: string, from?: number, lines?: number, signal?: AbortSignal): Promise<ReadResult> {
  try {
    const n = await memory.get(path, from, lines, signal);
    const next = n.nextLine ? { nextFrom: n.nextLine } : {};
    return { status: "ok", path: n.path, text: n.text, from: n.from, lines: n.lines, ...(n.truncated ? { truncated: true } : {}), ...next };
  } catch (err) {
    if (err instanceof ServiceError && err.code === "NOT_FOUND") return { status: "not_found", path, text: "" };
    throw err;
  }
}
