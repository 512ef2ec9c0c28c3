#!/usr/bin/env node
// Runs the kioku of the package for this platform.
"use strict";
const { spawn } = require("node:child_process");
const { constants } = require("node:os");

const platform = `${process.platform}-${process.arch}`;
let program;
try {
  program = require.resolve(`@kioku/${platform}/bin/kioku`);
} catch {
  console.error(`kioku: npm has no kioku for ${platform}, or was told to leave out optional dependencies; docs/install.md has other ways`);
  process.exit(1);
}
const child = spawn(program, process.argv.slice(2), { stdio: "inherit" });
child.on("error", (err) => {
  console.error(`kioku: ${err.message}`);
  process.exit(1);
});
child.on("exit", (code, signal) => process.exit(code ?? 128 + constants.signals[signal]));
process.on("SIGTERM", () => child.kill("SIGTERM"));
// A terminal sends these to kioku too, which decides.
for (const signal of ["SIGINT", "SIGHUP", "SIGQUIT"]) process.on(signal, () => {});
