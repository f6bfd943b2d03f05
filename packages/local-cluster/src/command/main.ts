#!/usr/bin/env node
import { executeCommand } from "./execute-command.ts";

process.exitCode = await executeCommand(process.argv.slice(2), { out: process.stdout, err: process.stderr });
