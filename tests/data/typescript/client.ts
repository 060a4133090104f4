// A program of a user of the client that is generated from the service's document (test_typescript.py): jobs at once and
// later, errors, and mistakes that the compiler finds. Its argument is the service's address.

import createClient from "openapi-fetch";
import type { components, paths } from "./zygo.js";

declare const process: { argv: string[] };
type Job = components["schemas"]["Job"];
type Result = components["schemas"]["Result"];

const zygo = createClient<paths>({ baseUrl: process.argv[2] ?? "" });

const job: Job = { source: "print(6 * 7)", limits: { wall_ms: 5000 }, stdin: { b64: "aGk=" } };
// @ts-expect-error: there is no such limit.
export const misspelt: Job = { source: "", limits: { wall: 1 } };
// @ts-expect-error: a job has a source.
export const empty: Job = { limits: { wall_ms: 1 } };

const now = await zygo.POST("/v1/jobs", { body: job });
if (!now.data || !("label" in now.data)) throw new Error(now.error?.error.message);
const result: Result = now.data;

const sent = await zygo.POST("/v1/jobs", { body: job, params: { query: { async: "1" } } });
if (!sent.data?.id) throw new Error(sent.error?.error.message);
const later = await zygo.GET("/v1/jobs/{id}", { params: { path: { id: sent.data.id }, query: { wait: "60" } } });

const refused = await zygo.POST("/v1/jobs", { body: { source: "", template: "nobody" } });
const missing = await zygo.GET("/v1/jobs/{id}", { params: { path: { id: "j-0" } } });
const metrics = await zygo.GET("/metrics", { parseAs: "text" });

console.log(JSON.stringify({
  label: result.label,
  stdout: result.stdout?.text,
  later: later.data && "label" in later.data ? later.data.label : null,
  refused: [refused.response.status, refused.error?.error.code],
  missing: [missing.response.status, missing.error?.error.code],
  metrics: metrics.response.status,
}));
