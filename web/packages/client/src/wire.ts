// Written by `python -m aster.reference --write`; do not edit. Events, and what the routes take and answer.

export interface About {
  user_id: string;
  operator: boolean;
  version: string;
  python: string;
  replica: string;
  provider: string;
  model: string;
  allowed_models: Array<string>;
  workspace: "folders" | "task" | "user";
  folders: Array<string>;
  sandbox: string;
  permission_mode: "default" | "plan" | "auto" | "bypass";
  memory_enabled: boolean;
  own_servers: boolean;
  max_turns: number;
  quotas: Array<QuotaWindow>;
}

/** What your agent wrote, and how it has done. */
export interface AcquiredAnswer {
  version: number;
  status: "active" | "degraded" | "retired";
  uses: number;
  failures: number;
  parameters_schema: { [key: string]: unknown };
  test_payload: { [key: string]: unknown };
}

export interface ActionEntry {
  name: string;
  action: string;
  kind: "tool" | "resource" | "prompt";
  description: string;
  input_schema: { [key: string]: unknown };
  behavior: "allow" | "ask" | "deny";
}

export interface ActionList {
  actions: Array<ActionEntry>;
}

/** An address on the public internet: the model provider fetches it, or the engine where it looks into media. */
export interface AddressSource {
  type: "url";
  url: string;
}

/** An item that is, or was, worked on in a turn. */
export interface AdvanceAnswer {
  advance_id: string;
  project_id: string;
  item_id: string;
  task_id: string;
  turn_id: string | null;
  status: "due" | "running" | "done" | "failed" | "stopped";
  reason: string;
  tool_calls: number;
  seconds: number;
  usd: number;
  created_at: string;
  started_at: string | null;
  ended_at: string | null;
}

export interface AdvanceBody {
  until?: "step" | "blocked";
}

export interface AdvancePage {
  advances: Array<AdvanceAnswer>;
  next: number | null;
}

/** An agent of your own. */
export interface AgentBody {
  description: string;
  system_prompt: string;
  model?: string | null;
  tools?: Array<string> | null;
  disallowed_tools?: Array<string>;
  permission_mode?: "default" | "plan" | "auto" | "bypass" | null;
  max_turns?: number | null;
  skills?: Array<string>;
}

/** An agent. */
export interface AgentEntry {
  name: string;
  description: string;
  source: "stock" | "catalog" | "user";
  system_prompt: string;
  model?: string | null;
  tools?: Array<string> | null;
  disallowed_tools?: Array<string>;
  permission_mode?: "default" | "plan" | "auto" | "bypass" | null;
  max_turns?: number | null;
  skills?: Array<string>;
}

export interface AgentList {
  agents: Array<AgentEntry>;
}

/** Model calls added up. Tokens read from or written to a cache are part of `input_tokens`. */
export interface Amounts {
  calls: number;
  input_tokens: number;
  output_tokens: number;
  cache_read_tokens: number;
  cache_write_tokens: number;
  cost_usd: number | null;
  unpriced_calls: number;
}

/** One of the two runs. What it used counts from where the replay begins. */
export interface ArmAnswer {
  task_id: string;
  turn_id: string;
  status: string;
  model: string;
  stop_reason: string | null;
  error: string | null;
  answer: string;
  steps: number;
  calls: number;
  tool_errors: number;
  unrecorded: number;
  cost_usd: number;
  input_tokens: number;
  output_tokens: number;
  cache_hit_tokens: number;
  model_ms: number;
  tool_ms: number;
  seconds: number;
}

/** Something a tool produced that is kept beside the thread. */
export interface Artifact {
  id: string;
  media_type: string;
  size: number;
  name?: string | null;
}

/** Something a tool produced, without its contents. */
export interface ArtifactEntry {
  artifact_id: string;
  turn_id: string;
  tool_call_id: string;
  name: string;
  media_type: string;
  size: number;
  sha256: string;
  created_at: string;
}

export interface ArtifactList {
  artifacts: Array<ArtifactEntry>;
}

export interface AskMemberBody {
  reason?: string;
}

export interface AssetState {
  type: "asset_state";
  task_id?: string;
  turn_id?: string | null;
  seq?: number;
  timestamp?: string;
  parent_turn_id?: string | null;
  depth?: number;
  server_name: string;
  status: "connected" | "disabled" | "disconnected" | "failed" | "needs_auth" | "pending";
  tools?: number | null;
  reason?: string | null;
}

export interface AudioBlock {
  type: "audio";
  source: Base64Source | UrlSource;
}

/** A recording: WAV, MP3, OGG, FLAC, AAC, AIFF or what a browser records. */
export interface AudioPart {
  type: "audio";
  source: InlineSource | AddressSource;
}

/** Work that outlives its turn begins (`running`) or has ended; `tool_call_id` is the call that began it, `summary` the end of what it said, which is whole in its artifact. In between it may be `stalled`: it is silent and the last it said is a question; when it goes on after all it is `running`, and `resumed`. */
export interface BackgroundTask {
  type: "background_task";
  task_id?: string;
  turn_id?: string | null;
  seq?: number;
  timestamp?: string;
  parent_turn_id?: string | null;
  depth?: number;
  runtime_task_id: string;
  work: "agent" | "bash";
  status: "completed" | "failed" | "killed" | "lost" | "running" | "stalled" | "timeout";
  description?: string | null;
  summary?: string | null;
  exit_code?: number | null;
  tool_call_id?: string | null;
  artifacts?: Array<Artifact>;
  resumed?: boolean;
}

/** What a rule would have meant for recorded calls. */
export interface BacktestAnswer {
  calls: number;
  matched: number;
  changed: number;
  would: { [key: string]: number };
  then: { [key: string]: number };
  would_allow_denied: number;
  would_deny_approved: number;
  examples: Array<ExampleAnswer>;
  complete: boolean;
}

/** A rule to try. */
export interface BacktestBody {
  tool?: string;
  pattern?: string;
  behavior?: "allow" | "ask" | "deny";
}

/** Media carried inline. */
export interface Base64Source {
  type: "base64";
  media_type: string;
  data: string;
}

export interface Before {
  id: string;
  text: string;
}

export interface Board {
  board: string;
  pending: number;
  in_progress: number;
  completed: number;
  ready: number;
}

export interface BoardList {
  boards: Array<Board>;
}

export interface Body_load {
  file: string;
  task_id?: string | null;
  session_id?: string | null;
}

export interface Body_upload {
  file: string;
  task_id?: string | null;
  session_id?: string | null;
  path?: string | null;
}

/** A limit that holds. */
export interface Budget {
  user_id: string;
  scope: string;
  owner: "operator" | "user";
  limit_usd: number | null;
  spent_usd: number;
  updated_at: string | null;
}

export interface BudgetAnswer {
  steps: number | null;
  seconds: number | null;
  tool_calls: number | null;
  usd: number | null;
}

export interface BudgetBody {
  limit_usd: number | null;
}

/** Why a budget makes the turn ask a person: whose budget it is, where it stands, what a yes allows. `day` is the day a budget of scope `user` is for. */
export interface BudgetCase {
  scope: "task" | "turn" | "user";
  owner: "operator" | "user";
  rung: "ask" | "exceeded";
  limit_usd: number;
  spent_usd: number;
  estimate_usd: number;
  up_to_usd: number;
  day?: string | null;
}

/** What the settings give everybody; null is no limit. */
export interface BudgetDefaults {
  user_day_usd: number | null;
  task_usd: number | null;
  turn_usd: number | null;
}

/** A budget (`user` is a person's day, then `task` and `turn`) is nearly used up, or stops the turn. */
export interface BudgetEvent {
  type: "budget_event";
  task_id?: string;
  turn_id?: string | null;
  seq?: number;
  timestamp?: string;
  parent_turn_id?: string | null;
  depth?: number;
  scope: string;
  status: "exceeded" | "reserved" | "settled" | "warning";
  limit: number;
  spent: number;
  unit?: "tokens" | "usd";
}

export interface BudgetList {
  defaults: BudgetDefaults;
  budgets: Array<Budget>;
  resets_at: string;
}

/** How far it may go by itself; what is left out is as the operator has set. */
export interface BudgetPart {
  steps?: number | null;
  seconds?: number | null;
  tool_calls?: number | null;
  usd?: number | null;
}

/** A call read far less of its prompt from the provider's cache (`ratio`) than the call before had left there (`expected`). `moved_block` is the first block that had changed and `source` where it comes from; without one the prompt was the same and the provider did not have it. `missed_tokens` were paid for again, which cost `cost_usd`. */
export interface CacheHitRatioAlert {
  type: "cache_hit_ratio_alert";
  task_id?: string;
  turn_id?: string | null;
  seq?: number;
  timestamp?: string;
  parent_turn_id?: string | null;
  depth?: number;
  ratio: number;
  expected: number;
  moved_block?: string | null;
  source?: string | null;
  cost_usd?: number | null;
  step?: number;
  model?: string;
  missed_tokens?: number;
}

/** What an agent was asked for in a run. */
export interface CallAnswer {
  call_key: string;
  label: string;
  phase: string;
  status: "running" | "completed" | "failed";
  attempt: number;
  task_id: string;
  problem: string;
  cost_usd: number;
  tokens: number;
}

/** A call that was made earlier. */
export interface CallItem {
  type: "function_call";
  call_id: string;
  name: string;
  arguments?: string;
}

/** What a login page sent a browser back with. */
export interface CallbackBody {
  state: string;
  code?: string;
  iss?: string | null;
  error?: string;
}

export interface Called {
  id: string;
  type?: string;
  function: CalledFunction;
}

export interface CalledFunction {
  name: string;
  arguments?: string;
}

export interface CancelAnswer {
  task_id: string;
  turn_id: string;
  status: "cancelled";
  dropped_messages: number;
}

export interface CancelBody {
  task_id: string;
  clear_inbox?: boolean;
}

/** A change of an item. */
export interface Change {
  number: number;
  change_id: string;
  action: "created" | "updated" | "linked" | "claimed" | "completed" | "released" | "reopened" | "deleted";
  by: string;
  person: boolean;
  overrode: boolean;
  at: string;
  version: number;
  task_id: string | null;
  turn_id: string | null;
  seq: number | null;
  detail: { [key: string]: unknown };
}

export interface ChangesetAnswer {
  changeset_id: string;
  kind: "batch" | "dream" | "trial" | "skills" | "self_play" | "feedback";
  status: "proposed" | "applied" | "rejected" | "reverted" | "empty";
  title: string;
  night: string;
  created_at: string;
  decided_at: string | null;
  decided_by: string | null;
  model: string | null;
  cost_usd: number;
  entries: number;
  note: string;
  items: Array<ChangesetItem>;
}

/** One thing that is learned, as a diff. */
export interface ChangesetItem {
  place: number;
  action: "write" | "merge" | "retire" | "trial" | "skill";
  kind: string;
  before: Array<Before>;
  after: string | null;
  fields: { [key: string]: unknown };
  record_id: string | null;
  quote: string;
  receipt: Origin;
  confidence: number;
  status: "proposed" | "applied" | "refused" | "rejected" | "reverted" | "kept";
  reason: string;
}

export interface ChangesetPage {
  changesets: Array<ChangesetAnswer>;
  next: number | null;
}

/** A conversation to be answered. */
export interface ChatBody {
  model: string;
  messages: Array<ChatMessage>;
  stream?: boolean | null;
  stream_options?: StreamOptions | null;
  tools?: Array<ChatTool> | null;
  tool_choice?: "auto" | "none" | "required" | aster__server__doors__chat_body__NamedChoice | null;
  parallel_tool_calls?: boolean | null;
  functions?: Array<unknown> | null;
  max_tokens?: number | null;
  max_completion_tokens?: number | null;
  temperature?: number | null;
  top_p?: number | null;
  presence_penalty?: number | null;
  frequency_penalty?: number | null;
  stop?: string | Array<string> | null;
  n?: number | null;
  seed?: number | null;
  logprobs?: boolean | null;
  top_logprobs?: number | null;
  logit_bias?: { [key: string]: number } | null;
  user?: string | null;
  safety_identifier?: string | null;
  metadata?: { [key: string]: unknown } | null;
  response_format?: ResponseFormat | null;
  reasoning_effort?: string | null;
  store?: boolean | null;
}

/** One message of the conversation. */
export interface ChatMessage {
  role: "system" | "developer" | "user" | "assistant" | "tool" | "function";
  content?: string | Array<aster__server__doors__chat_body__TextItem | aster__server__doors__chat_body__ImageItem | SoundItem | aster__server__doors__chat_body__FileItem | RefusalItem> | null;
  name?: string | null;
  tool_calls?: Array<Called> | null;
  tool_call_id?: string | null;
  refusal?: string | null;
}

export interface ChatTool {
  type: string;
  function?: aster__server__doors__chat_body__FunctionTool | null;
}

export interface CircuitState {
  type: "circuit_state";
  task_id?: string;
  turn_id?: string | null;
  seq?: number;
  timestamp?: string;
  parent_turn_id?: string | null;
  depth?: number;
  endpoint: string;
  state: "closed" | "half_open" | "open";
  failures?: number;
  retry_after_ms?: number | null;
}

export interface ClaimBody {
  owner?: string | null;
}

export interface ClaimedAnswer {
  item: WorkItemAnswer | null;
}

/** How far the agent has come in one field. */
export interface ClusterAnswer {
  cluster: "data_analysis" | "regex_parse" | "sql" | "concurrency" | "algo" | "bash" | "python_general";
  tier: "basic" | "intermediate" | "advanced" | "expert";
  runs: number;
  wins: number;
  best: number | null;
  brittle: number;
  mastered: boolean;
  saturated: boolean;
}

/** What became of a request to compact a task; tokens are estimated. */
export interface CompactAnswer {
  task_id: string;
  status: "compacted" | "unchanged" | "requested";
  before_tokens?: number | null;
  after_tokens?: number | null;
  strategy?: string | null;
  artifact_id?: string | null;
  reason?: string | null;
}

export interface CompactBody {
  focus?: string | null;
}

/** From here on the model sees a shorter form of the conversation; the thread itself stays as it is. `strategies` are all rungs that were needed, `strategy` is the last of them. The view `compaction_id` takes the place of everything before the turn `of_turn_id` (this one if it is not named) and of its first `covers` messages. What was moved out of it is in `artifact_id`. `model` wrote the summary, if a model did. Without `ok` nothing has changed, and `reason` says why. */
export interface CompactionEvent {
  type: "compaction_event";
  task_id?: string;
  turn_id?: string | null;
  seq?: number;
  timestamp?: string;
  parent_turn_id?: string | null;
  depth?: number;
  before_tokens: number;
  after_tokens: number;
  strategy: "level_1" | "level_2" | "level_3" | "micro" | "snip" | "summary" | "tool_result_budget";
  trigger?: "proactive" | "reactive" | "requested";
  ok?: boolean;
  artifact_id?: string | null;
  compaction_id?: string | null;
  of_turn_id?: string | null;
  covers?: number;
  strategies?: Array<"level_1" | "level_2" | "level_3" | "micro" | "snip" | "summary" | "tool_result_budget">;
  before_messages?: number;
  after_messages?: number;
  model?: string | null;
  reason?: string | null;
}

/** The conversation is to be compacted before the next model call; `focus` is what matters most in it. */
export interface CompactionRequested {
  type: "compaction_requested";
  task_id?: string;
  turn_id?: string | null;
  seq?: number;
  timestamp?: string;
  parent_turn_id?: string | null;
  depth?: number;
  by?: "model" | "person";
  focus?: string | null;
}

export interface CompleteBody {
  owner?: string | null;
  override?: boolean;
  result?: string | null;
}

export interface CompletedAnswer {
  item: WorkItemAnswer;
  unblocked: Array<WorkItemAnswer>;
}

/** Calls of tools that your agent proposed; it can use them once you approve. */
export interface ComposedAnswer {
  status: "proposed" | "approved" | "degraded" | "retired";
  parameters: Array<string>;
  steps: Array<StepAnswer>;
  mode?: "sequential" | "parallel";
  uses?: number;
  failures?: number;
}

export interface ConnectBody {
  server_name: string;
  server_config?: { [key: string]: unknown } | null;
  credentials?: CredentialsBody | null;
}

export interface ConnectionEntry {
  ref_id: string;
  server_name: string;
  status: string;
  scopes: Array<string>;
  expires_at: string | null;
  tools: number;
  reason: string | null;
  auth_url?: string | null;
  resting?: boolean;
  updated_at?: string | null;
}

export interface ContentBlockStart {
  type: "content_block_start";
  task_id?: string;
  turn_id?: string | null;
  seq?: number;
  timestamp?: string;
  parent_turn_id?: string | null;
  depth?: number;
  block_index: number;
  block_type: "text" | "thinking" | "tool_use";
  step: number;
  tool?: string | null;
  tool_call_id?: string | null;
}

/** A block is whole; the deltas before it add up to exactly this. `partial` when it was cut by a cancel. */
export interface ContentBlockStop {
  type: "content_block_stop";
  task_id?: string;
  turn_id?: string | null;
  seq?: number;
  timestamp?: string;
  parent_turn_id?: string | null;
  depth?: number;
  block_index: number;
  block_type: "text" | "thinking" | "tool_use";
  step: number;
  block: TextBlock | ThinkingBlock | ToolUseBlock;
  partial?: boolean;
}

/** A resource, a template for the addresses of resources, or a prompt. */
export interface ContentEntry {
  kind: "resource" | "template" | "prompt";
  address: string;
  title: string;
  description: string;
  arguments: Array<string>;
}

export interface ContentList {
  contents: Array<ContentEntry>;
}

/** A part of a prompt. */
export interface ContextBlock {
  block: string;
  source: string;
  hash: string;
  tokens: number;
  messages: number;
}

/** One model call. */
export interface ContextCall {
  call: number;
  turn_id: string | null;
  step: number;
  at: string;
  model: string;
  total_tokens: number;
  window: number | null;
  input_tokens: number;
  cached_tokens: number;
  written_tokens: number;
  moved: string | null;
  moved_source: string | null;
}

export interface ContextCallDetail {
  call: number;
  turn_id: string | null;
  step: number;
  at: string;
  model: string;
  total_tokens: number;
  window: number | null;
  input_tokens: number;
  cached_tokens: number;
  written_tokens: number;
  moved: string | null;
  moved_source: string | null;
  blocks: Array<ContextBlock>;
}

/** A block in both calls; null where it was not there. */
export interface ContextChange {
  change: "same" | "changed" | "grown" | "added" | "removed";
  before: ContextBlock | null;
  after: ContextBlock | null;
}

/** Two calls side by side. */
export interface ContextDiff {
  before: ContextCall;
  after: ContextCall;
  moved: ContextMoved | null;
  blocks: Array<ContextChange>;
}

/** What one model call was shown, in the order it was shown. The first `kept` entries are those of the manifest before it in the same turn, and not repeated. `total_tokens` is estimated; `input_tokens` is what the provider counted and `cached_tokens` what it read from its cache, both 0 for a call that brought no answer. `moved` is the first block that is not what it was in the call before, if one is. */
export interface ContextManifest {
  type: "context_manifest";
  task_id?: string;
  turn_id?: string | null;
  seq?: number;
  timestamp?: string;
  parent_turn_id?: string | null;
  depth?: number;
  step: number;
  entries: Array<ManifestEntry>;
  total_tokens: number;
  window?: number | null;
  kept?: number;
  model?: string;
  input_tokens?: number;
  cached_tokens?: number;
  written_tokens?: number;
  moved?: string | null;
  moved_source?: string | null;
}

export interface ContextMoved {
  block: string;
  source: string;
}

export interface ContextPage {
  calls: Array<ContextCall>;
  next: number | null;
}

export interface ContradictionAnswer {
  at: string;
  old_id: string;
  old: string;
  new_id: string;
  new: string;
}

export interface ContradictionList {
  contradictions: Array<ContradictionAnswer>;
}

export interface CorrectBody {
  fields: { [key: string]: unknown };
  extractor?: string;
}

export interface CreateBody {
  items: Array<ItemPart>;
  board?: string;
}

/** A skill of your own; it has a `prompt` or `scripts`, or both. */
export interface CreateSkillBody {
  name: string;
  description?: string;
  category?: string;
  prompt?: string;
  capabilities?: Array<string>;
  scripts?: { [key: string]: string };
}

/** What the server wants to know from you; kept encrypted. */
export interface CredentialsBody {
  headers?: { [key: string]: string };
  environment?: { [key: string]: string };
}

export interface DecideBody {
  places?: Array<number>;
}

export interface DecisionAnswer {
  behavior: "allow" | "ask" | "deny";
  reason: string;
  effects: Array<string>;
  decided_by: string;
  offer: Offer | null;
}

export interface DeletedTask {
  status?: "deleted";
  task_id: string;
}

export interface DivergenceAnswer {
  step: number;
  kind: "call" | "arguments" | "answer" | "stop_reason" | "status";
  source_seq: number | null;
  replay_seq: number | null;
  recorded: unknown;
  replayed: unknown;
}

export interface DocumentAnswer {
  document: string;
  parts: number;
  new: number;
}

/** A document; `text` is what it says, for models that cannot read the file itself. */
export interface DocumentBlock {
  type: "document";
  source: Base64Source | UrlSource;
  title?: string | null;
  text?: string | null;
}

/** A long text, kept in parts. */
export interface DocumentBody {
  task_id?: string | null;
  first_seq?: number;
  last_seq?: number;
  extractor?: string;
  derived_from?: Array<string>;
  confidence?: number;
  event_at?: string | null;
  valid_from?: string | null;
  valid_until?: string | null;
  document: string;
  text: string;
  title?: string;
}

export interface DocumentPage {
  documents: Array<KeptDocument>;
  next: number | null;
}

/** A document: PDF, or text in one of the usual forms. */
export interface DocumentPart {
  type: "document";
  source: InlineSource | AddressSource;
  title?: string | null;
}

export interface DoomedRecord {
  id: string;
  store: "episodes" | "knowledge" | "social" | "lessons" | "profile" | "documents" | "soul" | "working";
  text: string;
  why: "asked" | "derived" | "version" | "relation";
  because: string;
}

export interface DroppedBudget {
  status?: "deleted";
  scope: string;
}

export interface EdgePart {
  item_id: string;
  blocked_by: string;
}

/** A change of what items wait for, made whole or not at all. */
export interface EdgesBody {
  add?: Array<EdgePart>;
  remove?: Array<EdgePart>;
}

/** What is to be another; what is left out stays. */
export interface EditBody {
  subject?: string | null;
  description?: string | null;
  role?: string | null;
  priority?: number | null;
  add_blocked_by?: Array<string>;
  remove_blocked_by?: Array<string>;
  version?: number | null;
}

/** What running a call does to the world, and so whether it may be run again after a crash. */
export type Effect = "idempotent" | "irreversible" | "pure" | "reversible";

/** A note; `first_seq` to `last_seq` is the part of the thread it was made in. */
export interface Entry {
  id: string;
  type: EntryType;
  text: string;
  created_at: string;
  expires_at: string | null;
  extractor: string;
  first_seq: number;
  last_seq: number;
}

/** Something that happened. */
export interface EntryAnswer {
  number: number;
  kind: "turn" | "failure" | "feedback" | "correction";
  task_id: string | null;
  turn_id: string | null;
  signal_id: string | null;
  created_at: string;
  state: "waiting" | "done" | "set_aside";
  attempts: number;
  changeset_id: string | null;
  problem: string;
}

export interface EntryList {
  task_id: string;
  entries: Array<Entry>;
}

export interface EntryPage {
  entries: Array<EntryAnswer>;
  next: number | null;
}

export type EntryType = "decision" | "note" | "observation" | "summary";

/** The envelope of every answer that is not 2xx. Route on `error`; the sentence is for people. */
export interface ErrorAnswer {
  error: ErrorCode;
  message: string;
  retry: "never" | "now" | "after" | "ask";
  details?: { [key: string]: unknown } | null;
}

export type ErrorCode = "BUDGET_EXCEEDED" | "CONFIGURATION_INVALID" | "CONTEXT_OVERFLOW" | "DRAINING" | "HITL_NOT_PENDING" | "HITL_REQUIRED" | "INTERNAL" | "INVALID_KEY" | "INVALID_REQUEST" | "KEY_ROTATION_PENDING" | "LLM_PROVIDER_ERROR" | "LLM_RATE_LIMITED" | "LLM_TIMEOUT" | "MALFORMED_REQUEST" | "MCP_CONNECTION_FAILED" | "MCP_TOKEN_EXPIRED" | "METHOD_NOT_ALLOWED" | "MIGRATION_REQUIRED" | "NOT_FOUND" | "ORIGIN_REFUSED" | "PAYLOAD_TOO_LARGE" | "PERMISSION_DENIED" | "RATE_LIMITED" | "SANDBOX_UNAVAILABLE" | "SLOTS_EXHAUSTED" | "STORAGE_UNAVAILABLE" | "TASK_BUSY" | "TASK_EXISTS" | "TASK_NOT_FOUND" | "TASK_NOT_RUNNING" | "TEAM_CONFLICT" | "TOOL_IN_DOUBT" | "TURN_CRASHED" | "UNDO_CONFLICT" | "UNSUPPORTED_MEDIA_TYPE" | "WORKTREE_CONFLICT" | "WORK_CONFLICT";

export interface ErrorEvent {
  type: "error";
  task_id?: string;
  turn_id?: string | null;
  seq?: number;
  timestamp?: string;
  parent_turn_id?: string | null;
  depth?: number;
  error: ErrorCode;
  message: string;
  retry?: "after" | "ask" | "never" | "now";
  details?: { [key: string]: unknown } | null;
}

/** What happened, at one place of one thread. New types and fields may be added. */
export type Event = ThreadLifecycle | TaskLifecycle | UserMessage | TurnTransition | Recovery | ContentBlockStart | TextDelta | ThinkingDelta | ContentBlockStop | ToolCallIssued | ToolProgress | ToolResult | ToolError | ToolRetry | FilesRestored | HitlRequest | PermissionPrompt | PermissionSuggestion | HitlResolved | MediaNotice | WorkingMemoryUpdate | MemoryRetrieval | MemoryWrite | LearningUpdate | ContextManifest | CompactionRequested | CompactionEvent | CacheHitRatioAlert | Verification | Uncertainty | RiskSummary | TodoUpdate | PlanUpdate | SubagentLifecycle | BackgroundTask | WorkUpdate | ScheduleFired | TeamMessage | TeamUpdate | WorktreeEvent | GoalStatus | WorkflowUpdate | ProjectUpdate | ProviderFallback | CircuitState | ModelProgress | HookRan | AssetState | Usage | BudgetEvent | Heartbeat | ErrorEvent | Reconnect;

export interface EventsPage {
  events: Array<Event>;
  next_after_seq: number;
  head_seq: number;
}

export interface ExampleAnswer {
  call: PastCallAnswer;
  now: "allow" | "ask" | "deny";
  proposed: "allow" | "ask" | "deny";
}

/** One message for one task. */
export interface ExecuteBody {
  message?: string;
  task_id: string;
  media?: Array<TextPart | ImagePart | DocumentPart | AudioPart | VideoPart>;
  direct?: boolean;
  super_thinking?: boolean;
  model?: string | null;
  edit_message_id?: string | null;
  retry_message_id?: string | null;
  on_busy?: OnBusy;
  permission_mode?: "default" | "plan" | "auto" | "bypass" | null;
  agent?: string | null;
  unattended?: boolean;
  subagents?: boolean;
  instructions?: string;
  tools?: Array<ToolPart>;
}

/** What is said, of one thing. */
export interface FeedbackBody {
  turn_id?: string | null;
  message_id?: string | null;
  memory_id?: string | null;
  task_id?: string | null;
  rating?: number | null;
  text?: string;
  correction?: string;
}

export interface FileData {
  file_data?: string | null;
  filename?: string | null;
  file_id?: string | null;
}

/** A person took back what a turn did to files. */
export interface FilesRestored {
  type: "files_restored";
  task_id?: string;
  turn_id?: string | null;
  seq?: number;
  timestamp?: string;
  parent_turn_id?: string | null;
  depth?: number;
  undone_turn_id: string;
  files: Array<RestoredFile>;
}

/** What to forget: records, documents, or all that came from a task or a part of its thread. */
export interface ForgetBody {
  ids?: Array<string>;
  documents?: Array<string>;
  task_id?: string | null;
  first_seq?: number;
  last_seq?: number | null;
}

export interface ForgetDoBody {
  ids?: Array<string>;
  documents?: Array<string>;
  task_id?: string | null;
  first_seq?: number;
  last_seq?: number | null;
  delete_tasks?: boolean;
}

export interface ForgottenAnswer {
  forgotten: Array<string>;
  deleted_tasks: Array<string>;
}

export interface ForkAnswer {
  task_id: string;
  from_task_id: string;
  from_seq: number;
  head_seq: number;
}

export interface ForkBody {
  seq: number;
  task_id?: string | null;
}

/** The receipt of a record, the records it was derived from, and the tasks that had it in their context. */
export interface FullReceipt {
  receipt: Receipt;
  sources: Array<Record>;
  used_in: Array<UseAnswer>;
}

/** A prompt to be answered once. */
export interface GenerateBody {
  model?: string;
  prompt: string;
  system?: string | null;
  stream?: boolean;
}

/** A conversation to be answered. With a `session_id` the engine keeps it, and what is new alone may be sent. */
export interface GhostBody {
  model?: string;
  messages: Array<ChatMessage>;
  stream?: boolean | null;
  stream_options?: StreamOptions | null;
  tools?: Array<ChatTool> | null;
  tool_choice?: "auto" | "none" | "required" | aster__server__doors__chat_body__NamedChoice | null;
  parallel_tool_calls?: boolean | null;
  functions?: Array<unknown> | null;
  max_tokens?: number | null;
  max_completion_tokens?: number | null;
  temperature?: number | null;
  top_p?: number | null;
  presence_penalty?: number | null;
  frequency_penalty?: number | null;
  stop?: string | Array<string> | null;
  n?: number | null;
  seed?: number | null;
  logprobs?: boolean | null;
  top_logprobs?: number | null;
  logit_bias?: { [key: string]: number } | null;
  user?: string | null;
  safety_identifier?: string | null;
  metadata?: { [key: string]: unknown } | null;
  response_format?: ResponseFormat | null;
  reasoning_effort?: string | null;
  store?: boolean | null;
  session_id?: string | null;
}

/** A goal, and what came of it when a turn was last about to end. */
export interface GoalAnswer {
  task_id: string;
  goal_id: string;
  goal: string;
  status: "active" | "achieved" | "failed";
  outcome: "active" | "achieved" | "failed" | "blocked" | "limit" | "error" | "deferred";
  reason?: string | null;
  blocks: number;
  set_at: string;
  updated_at: string;
}

export interface GoalBody {
  goal: string;
}

/** The goal of a task was set (`active`) or cleared, or a turn was about to end and it was looked at: it is `achieved` or `failed` for good, or the turn goes on (`blocked`), or ends with the goal as it was. `blocks` is how often this turn was sent on. */
export interface GoalStatus {
  type: "goal_status";
  task_id?: string;
  turn_id?: string | null;
  seq?: number;
  timestamp?: string;
  parent_turn_id?: string | null;
  depth?: number;
  goal: string;
  status: "achieved" | "active" | "blocked" | "cleared" | "deferred" | "error" | "failed" | "limit";
  reason?: string | null;
  goal_id?: string;
  blocks?: number;
}

export interface Grant {
  grant_id: string;
  behavior: "allow" | "ask" | "deny";
  tool: string;
  pattern: string;
  scope: "task" | "agent" | "everywhere";
  task_id: string | null;
  agent: string | null;
  request_id: string | null;
  created_by: string;
  created_at: string;
  expires_at: string | null;
  uses: number;
  last_used_at: string | null;
}

/** A grant to store. */
export interface GrantBody {
  tool: string;
  pattern?: string;
  behavior?: "allow" | "ask" | "deny";
  scope?: "task" | "agent" | "everywhere";
  task_id?: string | null;
  agent?: string | null;
  expires_in_seconds?: number | null;
}

/** What an "always" would store: a call of this tool whose content fits the pattern is not asked about again. `pin` is a hash of how the tool describes itself: the grant is void once that changes. */
export interface GrantOffer {
  tool: string;
  pattern: string;
  pin?: string | null;
}

export interface Health {
  status: "ok" | "degraded" | "draining";
  uptime_seconds: number;
  version: string;
  subsystems: { [key: string]: Subsystem };
}

/** Nothing else was sent for a while; `seq` is the newest event this client has. */
export interface Heartbeat {
  type: "heartbeat";
  task_id?: string;
  turn_id?: string | null;
  seq?: number;
  timestamp?: string;
  parent_turn_id?: string | null;
  depth?: number;
}

export interface HistoryPage {
  changes: Array<Change>;
  next: number | null;
}

/** A memory that was found. */
export interface Hit {
  id: string;
  store: "episodes" | "knowledge" | "social" | "lessons" | "profile" | "documents" | "soul" | "working";
  kind: "episode" | "fact" | "node" | "edge" | "lesson" | "trait" | "chunk" | "soul" | "note";
  text: string;
  confidence: number;
  strength: number;
  event_at: string;
  valid_from: string;
  valid_until: string | null;
  superseded_by: string | null;
  receipt: Receipt;
  score: number;
  reasons: { [key: string]: number };
}

export interface HitList {
  hits: Array<Hit>;
  notice: string | null;
}

/** The turn needs a person; it goes on when `/hitl/respond` names this request (or the task). A question of kind `budget` belongs to no call; its `input` says where the budget stands (`BudgetCase`). One of kind `client_tool` is a call that the client runs; the answer is its result. `offer` is what an "always" to a permission would store; `about` are the uncertainties an answer would settle. One of kind `elicitation` is a connected server's question in the middle of a call: `input` says what it wants to know, `state` is what the server needs back with the answer. One of kind `login` names the page where a person logs in (`input.url`); finishing the login answers it. A permission with a `pin` is for the tool, or the code, as it was. One of kind `plan_approval` is a member's plan (`input.plan`), which waits for a yes or a no. */
export interface HitlRequest {
  type: "hitl_request";
  task_id?: string;
  turn_id?: string | null;
  seq?: number;
  timestamp?: string;
  parent_turn_id?: string | null;
  depth?: number;
  request_id: string;
  kind: "budget" | "client_tool" | "elicitation" | "in_doubt" | "login" | "permission" | "plan_approval" | "question" | "team";
  question: string;
  tool?: string | null;
  tool_call_id?: string | null;
  input?: { [key: string]: unknown } | null;
  options?: Array<string>;
  reason?: string | null;
  created_at?: string;
  offer?: GrantOffer | null;
  about?: Array<string>;
  state?: { [key: string]: unknown } | null;
  pin?: string | null;
}

/** What a person said; with an "always", how far it reaches, until when, and the grant that was stored. `up_to_usd` is what a yes to another question about the same budget allows, which settles this one too. `request` is what the client that answered wants otherwise from here on: those fields of the turn's `TurnRequest`. */
export interface HitlResolved {
  type: "hitl_resolved";
  task_id?: string;
  turn_id?: string | null;
  seq?: number;
  timestamp?: string;
  parent_turn_id?: string | null;
  depth?: number;
  request_id: string;
  answer: string;
  approved?: boolean | null;
  feedback?: string | null;
  content?: Array<TextBlock | ImageBlock | DocumentBlock | AudioBlock | VideoBlock>;
  resolved_by?: string | null;
  scope?: "agent" | "everywhere" | "task" | null;
  grant_id?: string | null;
  expires_at?: string | null;
  up_to_usd?: number | null;
  request?: { [key: string]: unknown } | null;
}

/** A hook of the operator's was asked. `updated_input` is what the call runs with instead, `context` what the model is told, `stop` that the turn ends after this step. */
export interface HookRan {
  type: "hook_ran";
  task_id?: string;
  turn_id?: string | null;
  seq?: number;
  timestamp?: string;
  parent_turn_id?: string | null;
  depth?: number;
  hook: string;
  hook_event: string;
  outcome: "blocked" | "error" | "success" | "timeout";
  tool?: string | null;
  message?: string | null;
  duration_ms?: number | null;
  tool_call_id?: string | null;
  context?: string | null;
  updated_input?: { [key: string]: unknown } | null;
  blocked?: boolean;
  permission?: "allow" | "ask" | "deny" | null;
  stop?: boolean;
}

export interface ImageAddress {
  url: string;
}

/** A picture; `note` says what the engine changed about it before it was kept. */
export interface ImageBlock {
  type: "image";
  source: Base64Source | UrlSource;
  note?: string | null;
}

/** A picture: PNG, JPEG, WebP or GIF. */
export interface ImagePart {
  type: "image";
  source: InlineSource | AddressSource;
}

export interface ImportAnswer {
  imported: number;
  known: number;
  skills?: number;
}

/** What decides on calls, strongest first: denials, the mode, rules that ask, grants, rules that allow. */
export interface InForce {
  mode: "default" | "plan" | "auto" | "bypass";
  bypass_allowed: boolean;
  unattended_policy: "park" | "deny";
  rules: Array<RuleAnswer>;
  grants: Array<Grant>;
}

/** The data itself, in base64. */
export interface InlineSource {
  type: "base64";
  media_type: string;
  data: string;
}

export interface ItemCounts {
  pending?: number;
  in_progress?: number;
  completed?: number;
  ready?: number;
}

export interface ItemPage {
  items: Array<WorkItemAnswer>;
  next: string | null;
}

/** An item that is to be made. */
export interface ItemPart {
  subject: string;
  description?: string;
  name?: string;
  blocked_by?: Array<string>;
  role?: string | null;
  priority?: number;
}

export interface ItemsAnswer {
  items: Array<WorkItemAnswer>;
}

export interface KeptDocument {
  document: string;
  title: string;
  parts: number;
  characters: number;
  task_id: string;
  extractor: string;
  created_at: string;
}

/** Something that was learned and is remembered. */
export interface LearnedAnswer {
  record: Record;
  changeset_id: string;
  place: number;
  kind: "batch" | "dream" | "trial" | "skills" | "self_play" | "feedback";
  quote: string;
  trial_id: string | null;
  gain: number | null;
  utility: Worth;
}

export interface LearnedPage {
  learned: Array<LearnedAnswer>;
  next: number | null;
}

export interface LearningStatus {
  mode: string;
  by_itself: boolean;
  review: boolean;
  task_id: string;
  queue: Queue;
  works: Array<WorkAnswer>;
  next_run_at: string | null;
  budget: Money;
}

/** Where a piece of learning (`work`) stands. `items` counts those of its changeset by what they came to, `entries` are the things that happened it is made of, `text` says it in words. */
export interface LearningUpdate {
  type: "learning_update";
  task_id?: string;
  turn_id?: string | null;
  seq?: number;
  timestamp?: string;
  parent_turn_id?: string | null;
  depth?: number;
  work: string;
  phase: "decided" | "deferred" | "failed" | "finished" | "started";
  text?: string;
  changeset_id?: string | null;
  status?: string | null;
  items?: { [key: string]: number };
  entries?: number;
  trial_id?: string | null;
  cost_usd?: number | null;
}

/** A message. `told_at`: it stands on its recipient's thread; `acked_at`: a model call that saw it was answered. */
export interface LetterAnswer {
  number: number;
  recipient: string;
  seq: number;
  message_id: string;
  sender: string;
  type: "message" | "broadcast" | "result" | "idle_notification" | "error" | "shutdown_request" | "shutdown_response" | "plan_request" | "plan_approval_request" | "plan_approval_response";
  content: string;
  metadata: { [key: string]: unknown };
  created_at: string;
  turn_id: string;
  told_at: string | null;
  acked_at: string | null;
}

export interface LetterBody {
  to: string;
  content: string;
}

/** Newest first; `next` asks for the page after this one (`before`), None on the last. */
export interface LetterPage {
  mail: Array<LetterAnswer>;
  next?: number | null;
}

export interface LettersAnswer {
  mail: Array<LetterAnswer>;
}

/** A task with what it has cost so far. */
export interface ListedTask {
  task_id: string;
  title: string;
  status: "idle" | "running" | "suspended";
  created_at: string;
  updated_at: string;
  active_turn_id: string | null;
  from_task_id: string | null;
  from_seq?: number | null;
  parent_task_id?: string | null;
  cost_usd: number | null;
}

export interface LoadAnswer {
  status?: string;
  files: number;
  chat_history: Array<unknown>;
  task_id: string;
}

/** A part of a prompt, where it came from, and its estimated tokens. The `hash` of a part made of `messages` covers every message before it too: two calls with the same hash there had the same conversation up to there. */
export interface ManifestEntry {
  block: string;
  source: string;
  hash: string;
  tokens: number;
  messages?: number;
}

export interface MarkBody {
  helpful: boolean;
}

/** `stripped`: the model provider refused it, so a line of text stands in its place from now on. `unsupported`: the model that answers takes nothing of the kind, so it is told in words what was attached. It stands in the message `message_id` or in the result of `tool_call_id`, at `block_index` of its content; with neither, everything that was attached before this turn is meant. */
export interface MediaNotice {
  type: "media_notice";
  task_id?: string;
  turn_id?: string | null;
  seq?: number;
  timestamp?: string;
  parent_turn_id?: string | null;
  depth?: number;
  action: "stripped" | "unsupported";
  kind: "audio" | "document" | "image" | "video";
  reason: string;
  message: string;
  message_id?: string | null;
  tool_call_id?: string | null;
  block_index?: number;
}

/** `turns` since a person last wrote to it; `item_id` is what it is at, `unread` waits for it. */
export interface MemberAnswer {
  name: string;
  role: string;
  agent: string;
  task_id: string;
  status: "working" | "idle" | "waiting_approval" | "stopping" | "stopped" | "failed";
  stop: string;
  reason: string;
  require_plan: boolean;
  turns: number;
  turn_id: string;
  item_id: string | null;
  cost_usd: number;
  unread: number;
}

/** A member that is to be made. */
export interface MemberPart {
  name: string;
  prompt: string;
  role?: string;
  agent?: string;
  item_id?: string | null;
  require_plan?: boolean;
}

export interface MembersBody {
  members: Array<MemberPart>;
}

export interface MemoryRetrieval {
  type: "memory_retrieval";
  task_id?: string;
  turn_id?: string | null;
  seq?: number;
  timestamp?: string;
  parent_turn_id?: string | null;
  depth?: number;
  query: string;
  items: Array<RetrievedItem>;
  tokens: number;
  duration_ms: number;
  notice?: string | null;
}

export interface MemoryWrite {
  type: "memory_write";
  task_id?: string;
  turn_id?: string | null;
  seq?: number;
  timestamp?: string;
  parent_turn_id?: string | null;
  depth?: number;
  store: string;
  id: string;
  action: "created" | "forgotten" | "rejected" | "superseded" | "updated";
  summary: string;
  receipt?: { [key: string]: unknown } | null;
}

/** What somebody said. */
export interface MessageItem {
  type?: "message";
  role: "user" | "assistant" | "system" | "developer";
  content: string | Array<aster__server__doors__responses_body__TextItem | RefusalItem | aster__server__doors__responses_body__ImageItem | aster__server__doors__responses_body__FileItem>;
}

/** The turn waits for a model that the engine itself makes ready; the bytes are those of its weights. */
export interface ModelProgress {
  type: "model_progress";
  task_id?: string;
  turn_id?: string | null;
  seq?: number;
  timestamp?: string;
  parent_turn_id?: string | null;
  depth?: number;
  stage: "downloading" | "loading" | "queued" | "ready" | "unavailable" | "verifying" | "warming";
  text: string;
  done_bytes?: number | null;
  total_bytes?: number | null;
}

export interface Money {
  limit_usd: number | null;
  spent_usd: number;
}

export interface NamedFunction {
  name: string;
}

export interface NextBody {
  owner?: string | null;
  board?: string;
  roles?: Array<string>;
}

/** A time that was due. */
export interface OccurrenceAnswer {
  schedule_id: string;
  due_at: string;
  status: "due" | "deferred" | "delivered" | "acknowledged" | "missed" | "skipped" | "failed";
  task_id: string | null;
  turn_id: string | null;
  by_hand: boolean;
  attempt: number;
  count: number;
  until_at: string | null;
  delivered_at: string | null;
  settled_at: string | null;
  reason: string;
}

export interface OccurrencePage {
  occurrences: Array<OccurrenceAnswer>;
  next: number | null;
}

export interface Offer {
  tool: string;
  pattern: string;
}

/** What to do when the task's turn is still running. */
export type OnBusy = "reject" | "queue" | "steer" | "interrupt";

/** Where the words stand that an item rests on. */
export interface Origin {
  task_id: string | null;
  first_seq: number;
  last_seq: number;
}

/** What kind of failure it was, and so what the loop may do about it. */
export type OutcomeClass = "diagnostic" | "fatal" | "retryable" | "unknown";

/** What a call came to. */
export interface OutputItem {
  type: "function_call_output";
  call_id: string;
  output: string | Array<aster__server__doors__responses_body__TextItem | RefusalItem | aster__server__doors__responses_body__ImageItem | aster__server__doors__responses_body__FileItem>;
}

export interface PastCallAnswer {
  task_id: string;
  seq: number;
  tool: string;
  input: { [key: string]: unknown };
  then: "ran" | "approved" | "denied" | "unanswered";
}

/** A request to a human that has no answer yet. */
export interface Pending {
  request_id: string;
  task_id: string;
  turn_id: string;
  kind: string;
  question: string;
  created_at: string;
  tool?: string | null;
  tool_call_id?: string | null;
  input?: { [key: string]: unknown } | null;
  options?: Array<string> | null;
  reason?: string | null;
  offer?: { [key: string]: unknown } | null;
}

export interface PendingList {
  pending: Array<Pending>;
}

/** Why a call is not simply run: what it would do and which rule asks. */
export interface PermissionPrompt {
  type: "permission_prompt";
  task_id?: string;
  turn_id?: string | null;
  seq?: number;
  timestamp?: string;
  parent_turn_id?: string | null;
  depth?: number;
  request_id: string;
  tool: string;
  tool_call_id: string;
  input: { [key: string]: unknown };
  reason: string;
  effects?: Array<string>;
  decided_by?: string;
  offer?: GrantOffer | null;
}

/** So many calls in a row were refused that another way of working is worth a thought. */
export interface PermissionSuggestion {
  type: "permission_suggestion";
  task_id?: string;
  turn_id?: string | null;
  seq?: number;
  timestamp?: string;
  parent_turn_id?: string | null;
  depth?: number;
  denials: number;
  mode: "auto" | "bypass" | "default" | "plan";
  message: string;
}

export type Phase = "cancelled" | "completed" | "errored" | "resumed" | "started" | "suspended";

export interface PlanAnswer {
  plan: PlanView | null;
}

/** A step of a plan. A step with parts (steps whose `parent` it is) is done when `join` of them are; one that is an `alternative_to` another waits for that to fail. `done_when` is what the `result` has to show. */
export interface PlanStep {
  id: string;
  text: string;
  status?: "completed" | "failed" | "in_progress" | "pending" | "skipped";
  depends_on?: Array<string>;
  parent?: string | null;
  join?: "all" | "any" | "best";
  done_when?: string | null;
  alternative_to?: string | null;
  result?: string | null;
}

/** One step of a plan. */
export interface PlanStepView {
  id: string;
  text: string;
  status?: "pending" | "in_progress" | "completed" | "failed" | "skipped";
  depends_on?: Array<string>;
  parent?: string | null;
  join?: "all" | "any" | "best";
  done_when?: string | null;
  alternative_to?: string | null;
  result?: string | null;
}

/** The plan as it stands from here on, whole; `reason` says why its steps are others than before. */
export interface PlanUpdate {
  type: "plan_update";
  task_id?: string;
  turn_id?: string | null;
  seq?: number;
  timestamp?: string;
  parent_turn_id?: string | null;
  depth?: number;
  goal: string;
  steps: Array<PlanStep>;
  revision?: number;
  reason?: string | null;
}

/** A plan as it stands. */
export interface PlanView {
  turn_id: string;
  seq: number;
  goal: string;
  revision: number;
  reason: string | null;
  steps: Array<PlanStepView>;
  updated_at: string;
}

export interface PlayBody {
  cluster?: "data_analysis" | "regex_parse" | "sql" | "concurrency" | "algo" | "bash" | "python_general" | null;
  cycles?: number;
  wait?: boolean;
}

export interface PlayStopped {
  status?: "stopped";
}

/** A challenge that was met. */
export interface PlayedAnswer {
  cluster: "data_analysis" | "regex_parse" | "sql" | "concurrency" | "algo" | "bash" | "python_general";
  tier: "basic" | "intermediate" | "advanced" | "expert";
  title: string;
  at: string;
  passed: boolean;
  attempts: number;
  score: number;
  delta: number;
  tool_errors: number;
  cost_usd: number;
  changeset_id: string;
  task_id: string;
  first_seq: number;
  last_seq: number;
}

/** What would be forgotten, and which threads say it too. */
export interface PreviewAnswer {
  records: Array<DoomedRecord>;
  tasks: Array<TouchedTask>;
}

/** A project as it stands. */
export interface ProjectAnswer {
  project_id: string;
  title: string;
  brief: string;
  notes: string;
  status: "ACTIVE" | "PAUSED" | "NEEDS_USER" | "DONE" | "ARCHIVED";
  reason: string;
  board: string;
  going: boolean;
  budget: BudgetAnswer;
  used: BudgetAnswer;
  items: ItemCounts;
  tasks: Array<string>;
  advance: AdvanceAnswer | null;
  question: ProjectQuestion | null;
  version: number;
  created_at: string;
  updated_at: string;
}

export interface ProjectArtifactAnswer {
  artifact_id: string;
  project_id: string;
  kind: "file" | "url" | "note" | "tool_call";
  name: string;
  content: string;
  item_id: string | null;
  task_id: string | null;
  turn_id: string | null;
  created_at: string;
}

export interface ProjectArtifactBody {
  kind: "file" | "url" | "note" | "tool_call";
  content: string;
  name?: string;
  item_id?: string | null;
}

export interface ProjectArtifactPage {
  artifacts: Array<ProjectArtifactAnswer>;
  next: number | null;
}

export interface ProjectBody {
  title: string;
  brief?: string;
  notes?: string;
  budget?: BudgetPart | null;
}

/** What is to be another; what is left out stays. */
export interface ProjectEditBody {
  title?: string | null;
  brief?: string | null;
  notes?: string | null;
  budget?: BudgetPart | null;
  version?: number | null;
}

export interface ProjectEventAnswer {
  number: number;
  kind: string;
  message: string;
  by: string;
  item_id: string | null;
  task_id: string | null;
  turn_id: string | null;
  at: string;
}

export interface ProjectEventBody {
  message: string;
  kind?: string;
}

export interface ProjectEventPage {
  events: Array<ProjectEventAnswer>;
  next: number | null;
}

export interface ProjectItemAnswer {
  item_id: string;
  board: string;
  subject: string;
  description: string;
  status: "pending" | "in_progress" | "completed" | "deleted";
  ready: boolean;
  owner: string | null;
  role: string | null;
  priority: number;
  worktree: string | null;
  result: string | null;
  version: number;
  blocked_by: Array<string>;
  waiting_for: Array<string>;
  task_id: string | null;
  owner_task_id: string | null;
  created_at: string;
  updated_at: string;
  claimed_at: string | null;
  completed_at: string | null;
  parent_id: string | null;
  depth: number;
}

export interface ProjectItemsBody {
  items: Array<ItemPart>;
  parent_id?: string | null;
}

export interface ProjectPage {
  projects: Array<ProjectSummary>;
  next: number | null;
}

export interface ProjectPauseBody {
  now?: boolean;
}

/** What a person is asked before it goes on: `POST /hitl/respond`, or `resume` with an `answer`. */
export interface ProjectQuestion {
  request_id: string;
  question: string;
  options: Array<string>;
  reason: string;
}

export interface ProjectResumeBody {
  answer?: string | null;
}

/** A project in a list. */
export interface ProjectSummary {
  project_id: string;
  title: string;
  status: "ACTIVE" | "PAUSED" | "NEEDS_USER" | "DONE" | "ARCHIVED";
  reason: string;
  going: boolean;
  items: ItemCounts;
  created_at: string;
  updated_at: string;
}

export interface ProjectTaskBody {
  task_id: string;
}

export interface ProjectTree {
  items: Array<ProjectItemAnswer>;
}

/** Something has happened in a project that this task works for; with `suggested`, the task has grown to where one may be worth it (there is none then, and none is made). `by` is who did it, `message` what there is to say. */
export interface ProjectUpdate {
  type: "project_update";
  task_id?: string;
  turn_id?: string | null;
  seq?: number;
  timestamp?: string;
  parent_turn_id?: string | null;
  depth?: number;
  action: "advance_done" | "advance_failed" | "advance_started" | "advance_stopped" | "archived" | "artifact_added" | "blocked" | "created" | "done" | "exited" | "items_added" | "needs_user" | "paused" | "resumed" | "suggested" | "switched" | "updated";
  project_id?: string;
  title?: string;
  status?: "ACTIVE" | "ARCHIVED" | "DONE" | "NEEDS_USER" | "PAUSED" | null;
  item_id?: string;
  advance_id?: string;
  by?: string;
  message?: string;
}

export interface ProviderFallback {
  type: "provider_fallback";
  task_id?: string;
  turn_id?: string | null;
  seq?: number;
  timestamp?: string;
  parent_turn_id?: string | null;
  depth?: number;
  from_model: string;
  to_model: string;
  reason: string;
}

/** What happened and has not been learned from. */
export interface Queue {
  waiting: number;
  claimed: number;
  set_aside: number;
  done: number;
  oldest_at: string | null;
}

/** A limit of a model provider as it was last told. */
export interface QuotaWindow {
  endpoint: string;
  model: string;
  name: string;
  limit: number;
  remaining: number;
  seen_at: string;
  resets_at: string;
}

export interface ReasonBody {
  reason?: string | null;
}

export interface ReasoningItem {
  type: "reasoning";
}

export interface ReasoningWish {
  effort?: string | null;
  summary?: string | null;
}

/** Where a memory came from, and what became of it. */
export interface Receipt {
  task_id: string | null;
  first_seq: number;
  last_seq: number;
  extractor: string;
  derived_from: Array<string>;
  confidence: number;
  created_at: string;
  uses: number;
  last_used_at: string | null;
}

/** This engine is going away; ask again after `after_seq` in `retry_ms`. */
export interface Reconnect {
  type: "reconnect";
  task_id?: string;
  turn_id?: string | null;
  seq?: number;
  timestamp?: string;
  parent_turn_id?: string | null;
  depth?: number;
  after_seq: number;
  retry_ms: number;
}

/** A memory. The fields of its kind (`subject`, `content`, …) stand beside these. */
export interface Record {
  id: string;
  store: "episodes" | "knowledge" | "social" | "lessons" | "profile" | "documents" | "soul" | "working";
  kind: "episode" | "fact" | "node" | "edge" | "lesson" | "trait" | "chunk" | "soul" | "note";
  text: string;
  confidence: number;
  strength: number;
  event_at: string;
  valid_from: string;
  valid_until: string | null;
  superseded_by: string | null;
  receipt: Receipt;
}

/** Something to remember. */
export interface RecordBody {
  task_id?: string | null;
  first_seq?: number;
  last_seq?: number;
  extractor?: string;
  derived_from?: Array<string>;
  confidence?: number;
  event_at?: string | null;
  valid_from?: string | null;
  valid_until?: string | null;
  kind: "episode" | "fact" | "node" | "edge" | "lesson" | "trait" | "chunk" | "note";
  fields: { [key: string]: unknown };
}

export interface RecordList {
  records: Array<Record>;
}

export interface RecordPage {
  records: Array<Record>;
  next: number | null;
}

/** What was streamed of a model call from `discarded_from_seq` on no longer counts; it is asked again. */
export interface Recovery {
  type: "recovery";
  task_id?: string;
  turn_id?: string | null;
  seq?: number;
  timestamp?: string;
  parent_turn_id?: string | null;
  depth?: number;
  discarded_from_seq: number;
  reason: "max_tokens" | "repetition" | "restart" | "takeover" | "transport" | "verification";
  step: number;
}

export interface RecurringList {
  recurring: Array<RecurringView>;
}

/** An unknown that keeps coming up. */
export interface RecurringView {
  text: string;
  times: number;
  tasks: number;
  impact: number;
  last_at: string;
}

export interface RefusalItem {
  type: "refusal";
  refusal: string;
}

export interface ReleaseBody {
  owner?: string | null;
  override?: boolean;
  reason?: string | null;
}

export interface ReloadAnswer {
  status?: "reloaded";
  tools: Array<string>;
  agents: Array<string>;
}

export interface RemoveBody {
  discard?: boolean;
}

export interface RenameBody {
  title: string;
}

export interface ReplayAnswer {
  replay_task_id: string;
  task_id: string;
  from_seq: number;
  status: "running" | "ended";
  created_at: string;
}

/** A replay that goes on by itself. */
export interface ReplayBegun {
  status?: "running";
  task_id: string;
  replay_task_id: string;
}

/** Which turn, and what is to be different. Everything left out is as it was. */
export interface ReplayBody {
  turn_id?: string | null;
  from_seq?: number | null;
  model?: string | null;
  instructions?: string | null;
  agent?: string | null;
  memory?: "recorded" | "none" | "current";
  without?: Array<string>;
  unrecorded?: "refuse" | "stop";
  max_usd?: number | null;
  replay_task_id?: string | null;
  wait?: boolean;
}

export interface ReplayList {
  replays: Array<ReplayAnswer>;
}

/** An engine process that the others know to be alive. */
export interface ReplicaEntry {
  replica: string;
  since: string;
  leads: boolean;
  answers: boolean;
}

export interface ReplicaList {
  replicas: Array<ReplicaEntry>;
}

/** Both runs, where they first differ, and the difference of their answers. */
export interface ReportAnswer {
  replay_task_id: string;
  status: "running" | "ended";
  from_seq: number;
  from_step: number;
  memory: "recorded" | "none" | "current";
  same: boolean;
  divergence: DivergenceAnswer | null;
  diff: string;
  recorded: ArmAnswer;
  replayed: ArmAnswer;
}

/** A person's answer, to a request or to the oldest open one of a task. */
export interface RespondBody {
  answer: string;
  scope?: "task" | "agent" | "everywhere" | null;
  expires_in_seconds?: number | null;
  request_id?: string | null;
  task_id?: string | null;
  feedback?: string | null;
  content_blocks?: Array<TextPart | ImagePart | DocumentPart | AudioPart | VideoPart>;
}

export interface ResponseFormat {
  type: "text" | "json_object" | "json_schema";
  json_schema?: SchemaForm | null;
}

/** What is to be answered: all of a conversation, or what comes after `previous_response_id`. */
export interface ResponsesBody {
  model: string;
  input: string | Array<MessageItem | CallItem | OutputItem | ReasoningItem>;
  instructions?: string | null;
  previous_response_id?: string | null;
  conversation?: unknown;
  prompt?: unknown;
  stream?: boolean | null;
  background?: boolean | null;
  store?: boolean | null;
  tools?: Array<aster__server__doors__responses_body__FunctionTool> | null;
  tool_choice?: "auto" | "none" | "required" | aster__server__doors__responses_body__NamedChoice | null;
  parallel_tool_calls?: boolean | null;
  max_output_tokens?: number | null;
  max_tool_calls?: number | null;
  temperature?: number | null;
  top_p?: number | null;
  presence_penalty?: number | null;
  frequency_penalty?: number | null;
  top_logprobs?: number | null;
  text?: TextWish | null;
  reasoning?: ReasoningWish | null;
  truncation?: string | null;
  metadata?: { [key: string]: unknown } | null;
  user?: string | null;
  safety_identifier?: string | null;
  prompt_cache_key?: string | null;
  service_tier?: string | null;
  include?: Array<unknown> | null;
  stream_options?: unknown;
}

export interface RestoredFile {
  path: string;
  action: "removed" | "restored";
}

export interface ResumeBody {
  args?: { [key: string]: unknown };
  permission_mode?: "default" | "plan" | "auto" | "bypass" | null;
  unattended?: boolean;
}

export interface Resumed {
  status: "resumed" | "answered";
  request_id: string;
}

/** A record that was found: its words as they entered the context, or why they did not; `reasons` are the parts of its score, `source_task_id` with the seqs is its receipt, `event_at` when it happened. */
export interface RetrievedItem {
  store: string;
  id: string;
  score: number;
  tokens: number;
  used?: boolean;
  cut?: string | null;
  text?: string;
  reasons?: { [key: string]: number };
  source_task_id?: string;
  first_seq?: number;
  last_seq?: number;
  event_at?: string;
}

export interface RevertBody {
  night: string;
}

export interface RevertedAnswer {
  night: string;
  changesets: Array<ChangesetAnswer>;
}

export interface Revoked {
  status?: "revoked";
  grant_id: string;
}

/** What of weight the turn leaves unsettled, in the engine's words; it stands beside the answer, not in it. */
export interface RiskSummary {
  type: "risk_summary";
  task_id?: string;
  turn_id?: string | null;
  seq?: number;
  timestamp?: string;
  parent_turn_id?: string | null;
  depth?: number;
  text: string;
  item_ids: Array<string>;
}

export interface RotationAnswer {
  renewed: number;
  current: number;
  lost: number;
}

export interface RpcAnswer {
  result: { [key: string]: unknown };
}

/** One call. */
export interface RpcBody {
  method: string;
  params: { [key: string]: unknown };
  task_id?: string | null;
  turn_id?: string | null;
  permission_mode?: "default" | "plan" | "auto" | "bypass" | null;
  unattended?: boolean;
}

/** A rule of the operator. */
export interface RuleAnswer {
  id: string;
  behavior: "allow" | "ask" | "deny";
  tool: string;
  pattern: string;
  reason: string;
  every_time: boolean;
}

/** How a piece of learning went. */
export interface RunAnswer {
  work: string;
  outcome: string;
  at: string;
  changeset_id: string | null;
  reason: string;
}

export interface RunList {
  runs: Array<WorkflowRunAnswer>;
}

export interface RunOfTrial {
  turn_id: string;
  arm: "with" | "without";
  task_id: string;
  replay_task_id: string;
  score: number;
  checks: { [key: string]: number };
  answer: string;
  cost_usd: number;
  at: string;
}

export interface RunsAnswer {
  runs: Array<RunAnswer>;
  task_id: string;
}

/** A page of what a runtime task has said. */
export interface RuntimeOutput {
  id: string;
  status: "running" | "stalled" | "completed" | "failed" | "killed" | "timeout" | "lost";
  offset: number;
  next_offset: number;
  more: boolean;
  size: number;
  left_out: number;
  text: string;
}

export interface RuntimePage {
  tasks: Array<RuntimeTaskAnswer>;
  next?: string | null;
}

/** A command or an agent that works behind a turn, or did. */
export interface RuntimeTaskAnswer {
  id: string;
  kind: "bash" | "agent";
  task_id: string;
  turn_id: string;
  tool_call_id: string;
  status: "running" | "stalled" | "completed" | "failed" | "killed" | "timeout" | "lost";
  description: string;
  started_at: string;
  ended_at?: string | null;
  exit_code?: number | null;
  output_size: number;
  notified: boolean;
  notified_at?: string | null;
  work_item?: string | null;
  wake: boolean;
  stalled_since?: string | null;
  artifact_id?: string | null;
  child_task_id?: string | null;
  agent?: string | null;
}

export interface SaveBody {
  chat_history?: Array<unknown>;
  task_id?: string | null;
  session_id?: string | null;
}

/** A schedule as it stands. */
export interface ScheduleAnswer {
  schedule_id: string;
  name: string;
  prompt: string;
  kind: "cron" | "interval" | "once" | "watch";
  trigger: { [key: string]: unknown };
  task_id: string | null;
  status: "active" | "paused" | "ended" | "cancelled";
  next_at: string | null;
  coming: Array<string>;
  runs: number;
  problem: string;
  model: string | null;
  agent: string | null;
  permission_mode: "default" | "plan" | "auto" | "bypass" | null;
  catch_up: "latest" | "all" | "none";
  catch_up_seconds: number;
  jitter: boolean;
  expires_at: string | null;
  max_runs: number | null;
  durable: boolean;
  version: number;
  created_at: string;
  updated_at: string;
}

/** A schedule: a prompt, and one of `cron`, `every_seconds`, `at` and `watch`. */
export interface ScheduleBody {
  cron?: string | null;
  time_zone?: string | null;
  every_seconds?: number | null;
  at?: string | null;
  watch?: WatchPart | null;
  model?: string | null;
  agent?: string | null;
  permission_mode?: "default" | "plan" | "auto" | "bypass" | null;
  catch_up_seconds?: number | null;
  expires_at?: string | null;
  max_runs?: number | null;
  prompt: string;
  name?: string;
  task_id?: string | null;
  catch_up?: "latest" | "all" | "none";
  jitter?: boolean;
  durable?: boolean;
}

/** What is to be another; what is left out stays. One of `cron`, `every_seconds`, `at` and `watch` takes the place of whichever there was; `time_zone` alone moves a `cron`. Null takes away `model`, `agent`, `permission_mode`, `expires_at` and `max_runs`. */
export interface ScheduleEditBody {
  cron?: string | null;
  time_zone?: string | null;
  every_seconds?: number | null;
  at?: string | null;
  watch?: WatchPart | null;
  model?: string | null;
  agent?: string | null;
  permission_mode?: "default" | "plan" | "auto" | "bypass" | null;
  catch_up_seconds?: number | null;
  expires_at?: string | null;
  max_runs?: number | null;
  prompt?: string | null;
  name?: string | null;
  catch_up?: "latest" | "all" | "none" | null;
  jitter?: boolean | null;
  version?: number | null;
}

/** A time of a schedule that was due, and what becomes of it: `occurrence` is that time, `reason` says why it was not simply done. With `missed`, `count` of them are meant. */
export interface ScheduleFired {
  type: "schedule_fired";
  task_id?: string;
  turn_id?: string | null;
  seq?: number;
  timestamp?: string;
  parent_turn_id?: string | null;
  depth?: number;
  schedule_id: string;
  occurrence: string;
  status: "acknowledged" | "deferred" | "delivered" | "due" | "failed" | "missed" | "skipped";
  prompt?: string | null;
  reason?: string | null;
  count?: number;
}

export interface SchedulePage {
  schedules: Array<ScheduleAnswer>;
  next: number | null;
}

export interface SchedulePreviewAnswer {
  coming: Array<string>;
  time_zone: string | null;
}

/** A schedule as far as it is thought out: one of `cron`, `every_seconds`, `at` and `watch`. */
export interface SchedulePreviewBody {
  cron?: string | null;
  time_zone?: string | null;
  every_seconds?: number | null;
  at?: string | null;
  watch?: WatchPart | null;
  model?: string | null;
  agent?: string | null;
  permission_mode?: "default" | "plan" | "auto" | "bypass" | null;
  catch_up_seconds?: number | null;
  expires_at?: string | null;
  max_runs?: number | null;
  prompt?: string;
  name?: string;
  task_id?: string | null;
  catch_up?: "latest" | "all" | "none";
  jitter?: boolean;
  durable?: boolean;
}

export interface SchemaForm {
  name?: string | null;
  schema?: { [key: string]: unknown } | null;
  strict?: boolean | null;
}

export interface SearchAllBody {
  query: string;
  limit?: number;
  stores?: Array<"episodes" | "knowledge" | "social" | "lessons" | "profile" | "documents"> | null;
}

export interface SearchBody {
  query: string;
  limit?: number;
}

export interface SelfPlayAnswer {
  enabled: boolean;
  problem: string | null;
  running: boolean;
  budget: Money;
  cooldown_seconds: number;
  clusters: Array<ClusterAnswer>;
  runs: Array<PlayedAnswer>;
}

export interface ServerEntry {
  server_name: string;
  display_name: string;
  transport: "stdio" | "http" | "sse";
  auth_method: "none" | "static" | "oauth";
  status?: "available";
  own: boolean;
  asks: Array<string>;
}

export interface ShowBody {
  model?: string;
  name?: string | null;
}

/** What was said of a thing. */
export interface SignalAnswer {
  signal_id: string;
  target: "turn" | "message" | "memory";
  target_id: string;
  task_id: string | null;
  turn_id: string | null;
  rating: number | null;
  text: string;
  correction: string;
  created_at: string;
  updated_at: string;
}

export interface SignalDeleted {
  status?: "deleted";
  signal_id: string;
}

export interface SignalPage {
  signals: Array<SignalAnswer>;
  next: number | null;
}

/** A skill, whole. */
export interface SkillAnswer {
  name: string;
  description: string;
  source: "platform" | "custom";
  category: string;
  confidence: number;
  origin: "platform" | "operator" | "custom" | "acquired" | "composed" | "workspace";
  status: "active" | "degraded" | "retired" | "proposed" | "approved" | null;
  prompt_template: string;
  scripts: { [key: string]: string };
  files: Array<string>;
  capabilities: Array<string>;
  allowed_tools: Array<string>;
  acquired?: AcquiredAnswer | null;
  composed?: ComposedAnswer | null;
}

export interface SkillDeleted {
  status?: "deleted";
  name: string;
}

export interface SkillEntry {
  name: string;
  description: string;
  source: "platform" | "custom";
  category: string;
  confidence: number;
  origin: "platform" | "operator" | "custom" | "acquired" | "composed" | "workspace";
  status: "active" | "degraded" | "retired" | "proposed" | "approved" | null;
}

export interface SkillList {
  skills: Array<SkillEntry>;
}

export interface SoulAnswer {
  identity: string;
  values: Array<string>;
  patterns: Array<string>;
  voice: string | null;
  version: number;
}

export interface SoulBody {
  identity: string;
  values?: Array<string>;
  patterns?: Array<string>;
  voice?: string | null;
  derived_from?: Array<string>;
}

export interface SoulFull {
  identity: string;
  values: Array<string>;
  patterns: Array<string>;
  voice: string | null;
  version: number;
  versions: Array<Record>;
}

export interface Sound {
  data: string;
  format: string;
}

export interface SoundItem {
  type: "input_audio";
  input_audio: Sound;
}

export interface StatisticsAnswer {
  stores: Array<StoreCount>;
  users: Array<UserCount> | null;
  model: string | null;
  pending: number;
  fault: string | null;
}

export interface StepAnswer {
  tool: string;
  input: { [key: string]: unknown };
  save_as: string;
  optional: boolean;
  when?: { [key: string]: string } | null;
}

/** Which answer: by its session, or by its `id`. */
export interface StopBody {
  session_id?: string | null;
  id?: string | null;
}

export interface Stopped {
  status?: "cancelled";
  session_id: string;
  id: string;
}

export interface StoreCount {
  store: "episodes" | "knowledge" | "social" | "lessons" | "profile" | "documents" | "soul" | "working";
  records: number;
  superseded: number;
}

export interface StreamOptions {
  include_usage?: boolean | null;
}

/** A sub-agent begins or has ended. What it does is on the thread of `child_task_id`; `tool_call_id` is the call it was begun for, `result` what it said at its end, `cost_usd` what it and its own sub-agents cost, `granted` what a person has allowed it to spend beyond the budgets, which are those of whoever it worked for. */
export interface SubagentLifecycle {
  type: "subagent_lifecycle";
  task_id?: string;
  turn_id?: string | null;
  seq?: number;
  timestamp?: string;
  parent_turn_id?: string | null;
  depth?: number;
  child_turn_id: string;
  agent: string;
  phase: "cancelled" | "completed" | "errored" | "started";
  description?: string | null;
  result?: string | null;
  child_task_id?: string;
  tool_call_id?: string | null;
  background?: boolean;
  stop_reason?: string | null;
  model_calls?: number;
  cost_usd?: number | null;
  granted?: Array<BudgetCase>;
}

/** Whether a part works, and its own particulars. */
export interface Subsystem {
  ok: boolean;
}

/** A conversation. */
export interface Task {
  task_id: string;
  title: string;
  status: "idle" | "running" | "suspended";
  created_at: string;
  updated_at: string;
  active_turn_id: string | null;
  from_task_id: string | null;
  from_seq?: number | null;
  parent_task_id?: string | null;
}

/** A task with its turns and what waits in it. */
export interface TaskDetail {
  task_id: string;
  title: string;
  status: "idle" | "running" | "suspended";
  created_at: string;
  updated_at: string;
  active_turn_id: string | null;
  from_task_id: string | null;
  from_seq?: number | null;
  parent_task_id?: string | null;
  cost_usd: number | null;
  head_seq: number;
  turns: Array<Turn>;
  pending: Array<Pending>;
  inbox: Array<Waiting>;
}

/** Something happened to the task as a whole, outside the steps of a turn. */
export interface TaskLifecycle {
  type: "task_lifecycle";
  task_id?: string;
  turn_id?: string | null;
  seq?: number;
  timestamp?: string;
  parent_turn_id?: string | null;
  depth?: number;
  phase: "dequeued" | "forked" | "queued" | "renamed" | "replayed";
  message_id?: string | null;
  from_task_id?: string | null;
  from_seq?: number | null;
  title?: string | null;
}

export interface TaskPage {
  tasks: Array<ListedTask>;
  next: string | null;
}

export interface TeamAnswerBody {
  approve: boolean;
  feedback?: string | null;
  type?: "shutdown_response" | "plan_approval_response";
  member?: string;
}

export interface TeamBody {
  members: Array<MemberPart>;
  task_id?: string | null;
  name?: string | null;
  board?: string | null;
  budget_usd?: number | null;
}

export interface TeamItems {
  pending: number;
  in_progress: number;
  completed: number;
  ready: number;
}

/** A team in a list. */
export interface TeamLine {
  team_id: string;
  name: string;
  board: string;
  lead_task_id: string;
  status: "active" | "stopped";
  budget_usd: number;
  created_at: string;
  ended_at: string | null;
}

/** Mail in a team, on the threads of both. `sender` and `recipient` are names within the team (`lead`, `person` and `engine` among them); `mail_seq` numbers what the recipient gets. */
export interface TeamMessage {
  type: "team_message";
  task_id?: string;
  turn_id?: string | null;
  seq?: number;
  timestamp?: string;
  parent_turn_id?: string | null;
  depth?: number;
  message_id: string;
  sender: string;
  recipient: string;
  message_type: string;
  content: string;
  metadata?: { [key: string]: unknown } | null;
  team_id?: string;
  mail_seq?: number;
}

/** `next` asks for the page after this one (`before`); None on the last. */
export interface TeamPage {
  teams: Array<TeamLine>;
  next?: string | null;
}

/** How it stands with a member's plan: while it is not `approved` the member changes nothing. */
export interface TeamPlanAnswer {
  member: string;
  status: "required" | "pending" | "approved" | "rejected";
  work_version: number;
  item_id?: string | null;
  request_id?: string | null;
  feedback?: string | null;
}

export interface TeamPlanList {
  plans: Array<TeamPlanAnswer>;
}

/** A request in a team: `sender` asks it of `target`, about `member`. */
export interface TeamRequestAnswer {
  request_id: string;
  team_id: string;
  kind: "shutdown" | "plan_approval";
  sender: string;
  target: string;
  member: string;
  status: "pending" | "approved" | "rejected" | "void";
  content: string;
  work_version: number;
  created_at: string;
  item_id?: string | null;
  answered_by?: string | null;
  feedback?: string | null;
  answered_at?: string | null;
}

export interface TeamRequestPage {
  requests: Array<TeamRequestAnswer>;
  next?: string | null;
}

/** A team with its members, how much is on its board, and what waits for the lead. */
export interface TeamSheet {
  team_id: string;
  name: string;
  board: string;
  lead_task_id: string;
  status: "active" | "stopped";
  budget_usd: number;
  created_at: string;
  ended_at: string | null;
  cost_usd: number;
  members: Array<MemberAnswer>;
  items: TeamItems;
  unread: number;
}

/** A team was made or stopped, or one of its members is another than before; told on the thread of the task that leads. `member_task_id` is the member's own task, `member_turn_id` the turn that began or ended, `item_id` the work it is at. */
export interface TeamUpdate {
  type: "team_update";
  task_id?: string;
  turn_id?: string | null;
  seq?: number;
  timestamp?: string;
  parent_turn_id?: string | null;
  depth?: number;
  team_id: string;
  team: string;
  action: "created" | "failed" | "idle" | "joined" | "stopped" | "stopping" | "waiting_approval" | "working";
  member?: string;
  role?: string;
  agent?: string;
  member_task_id?: string;
  member_turn_id?: string;
  item_id?: string | null;
  reason?: string | null;
  cost_usd?: number | null;
}

/** A call to think through. */
export interface TestBody {
  tool: string;
  input?: { [key: string]: unknown };
  task_id?: string | null;
  mode?: "default" | "plan" | "auto" | "bypass" | null;
}

/** Words; `signature` is the provider's mark on them, handed back untouched and only to `model`. */
export interface TextBlock {
  type: "text";
  text: string;
  signature?: string | null;
  model?: string | null;
}

export interface TextDelta {
  type: "text_delta";
  task_id?: string;
  turn_id?: string | null;
  seq?: number;
  timestamp?: string;
  parent_turn_id?: string | null;
  depth?: number;
  text: string;
  block_index: number;
  step: number;
}

export interface TextFormat {
  type?: "text" | "json_object" | "json_schema";
  name?: string | null;
  description?: string | null;
  schema?: { [key: string]: unknown } | null;
  strict?: boolean | null;
}

/** More text. */
export interface TextPart {
  type: "text";
  text: string;
}

export interface TextWish {
  format?: TextFormat | null;
  verbosity?: string | null;
}

/** Reasoning; `signature` or `encrypted` is handed back untouched, and only to `model`, which wrote it. */
export interface ThinkingBlock {
  type: "thinking";
  text: string;
  signature?: string | null;
  encrypted?: string | null;
  model?: string | null;
}

export interface ThinkingDelta {
  type: "thinking_delta";
  task_id?: string;
  turn_id?: string | null;
  seq?: number;
  timestamp?: string;
  parent_turn_id?: string | null;
  depth?: number;
  text: string;
  block_index: number;
  step: number;
}

/** A turn opens with `started` and closes with `completed`, `errored` or `cancelled`, always. */
export interface ThreadLifecycle {
  type: "thread_lifecycle";
  task_id?: string;
  turn_id?: string | null;
  seq?: number;
  timestamp?: string;
  parent_turn_id?: string | null;
  depth?: number;
  phase: Phase;
  segment?: number;
  stop_reason?: string | null;
  request?: { [key: string]: unknown } | null;
  follows_turn_id?: string | null;
  follows_messages?: number | null;
}

export interface TodoItem {
  content: string;
  status: "completed" | "in_progress" | "pending";
  active_form?: string | null;
}

export interface TodoUpdate {
  type: "todo_update";
  task_id?: string;
  turn_id?: string | null;
  seq?: number;
  timestamp?: string;
  parent_turn_id?: string | null;
  depth?: number;
  todos: Array<TodoItem>;
}

/** The engine is about to run this call; `attempt` grows when it is run again under the same key. `grant_id` is what spared a person the question. `as_tool` and `as_input` are the call of a platform tool that a declared tool stands for. */
export interface ToolCallIssued {
  type: "tool_call";
  task_id?: string;
  turn_id?: string | null;
  seq?: number;
  timestamp?: string;
  parent_turn_id?: string | null;
  depth?: number;
  tool: string;
  tool_call_id: string;
  input: { [key: string]: unknown };
  step: number;
  effect: Effect;
  idempotency_key: string;
  attempt?: number;
  grant_id?: string | null;
  as_tool?: string | null;
  as_input?: { [key: string]: unknown } | null;
}

/** What a model is told about a tool. */
export interface ToolDefinition {
  name: string;
  description: string;
  input_schema: { [key: string]: unknown };
}

export interface ToolEntry {
  definition: ToolDefinition;
  source: string;
  requires_permission: boolean;
}

/** A call failed; the class says what the engine and the model may do about it. */
export interface ToolError {
  type: "tool_error";
  task_id?: string;
  turn_id?: string | null;
  seq?: number;
  timestamp?: string;
  parent_turn_id?: string | null;
  depth?: number;
  tool: string;
  tool_call_id: string;
  failure: OutcomeClass;
  reason: string;
  message: string;
  retry_safe?: boolean;
}

export interface ToolList {
  tools: Array<ToolEntry>;
}

/** A tool of the client. */
export interface ToolPart {
  name: string;
  description?: string;
  input_schema?: { [key: string]: unknown };
}

export interface ToolProgress {
  type: "tool_progress";
  task_id?: string;
  turn_id?: string | null;
  seq?: number;
  timestamp?: string;
  parent_turn_id?: string | null;
  depth?: number;
  tool: string;
  tool_call_id: string;
  text: string;
  stream?: string | null;
}

/** What the call came to; `error` is a machine word when it failed, the reason is in `output`. `trusted`: the words are the engine's or a person's, and not data from outside. */
export interface ToolResult {
  type: "tool_result";
  task_id?: string;
  turn_id?: string | null;
  seq?: number;
  timestamp?: string;
  parent_turn_id?: string | null;
  depth?: number;
  tool: string;
  tool_call_id: string;
  step: number;
  output: string;
  error?: string | null;
  content?: Array<TextBlock | ImageBlock | DocumentBlock | AudioBlock | VideoBlock>;
  duration_ms?: number | null;
  artifacts?: Array<Artifact>;
  data?: { [key: string]: unknown } | null;
  trusted?: boolean;
}

export interface ToolRetry {
  type: "tool_retry";
  task_id?: string;
  turn_id?: string | null;
  seq?: number;
  timestamp?: string;
  parent_turn_id?: string | null;
  depth?: number;
  tool: string;
  tool_call_id: string;
  attempt: number;
  limit: number;
  delay_ms: number;
  reason: string;
}

/** A tool call the model asked for; `invalid` holds what could not be read as a JSON object of arguments. `hint` is what to tell the model about that, where more is known than that it is wrong. `signature` is the provider's mark on the call, handed back untouched and only to `model`. */
export interface ToolUseBlock {
  type: "tool_use";
  id: string;
  name: string;
  input: { [key: string]: unknown };
  invalid?: string | null;
  signature?: string | null;
  model?: string | null;
  hint?: string | null;
}

export interface TouchedTask {
  task_id: string;
  why: "source" | "used";
}

/** Why a turn makes another model call. */
export type TransitionReason = "budget_continuation" | "compact_retry" | "empty_answer" | "goal_continuation" | "human_gate" | "loop_guard" | "max_tokens_recovery" | "media_recovery" | "missing_call" | "pause_turn" | "repetition" | "steer" | "stop_hook_continuation" | "tool_result_continuation" | "transport_retry" | "verification_repair";

/** A learned thing that proves itself, or has. */
export interface TrialAnswer {
  trial_id: string;
  kind: string;
  fields: { [key: string]: unknown };
  status: "waiting" | "running" | "promoted" | "retired" | "undecided";
  reason: string;
  changeset_id: string;
  place: number;
  receipt: Origin;
  quote: string;
  record_id: string | null;
  turns: number;
  with_score: number;
  without_score: number;
  gain: number;
  wins: number;
  losses: number;
  cost_usd: number;
  created_at: string;
  decided_at: string | null;
  runs: Array<RunOfTrial>;
}

export interface TrialPage {
  trials: Array<TrialAnswer>;
  next: number | null;
}

/** One message and all it caused. */
export interface Turn {
  turn_id: string;
  status: "running" | "suspended" | "completed" | "errored" | "cancelled";
  segment: number;
  first_seq: number;
  last_seq: number | null;
  started_at: string;
  ended_at: string | null;
  stop_reason: string | null;
  error: string | null;
  agent?: string;
  model_calls: number;
  input_tokens: number;
  output_tokens: number;
  cache_read_tokens: number;
  cache_write_tokens: number;
  cost_usd: number;
}

/** The loop goes round again, for this reason, having used `attempt` of `limit`. */
export interface TurnTransition {
  type: "turn_transition";
  task_id?: string;
  turn_id?: string | null;
  seq?: number;
  timestamp?: string;
  parent_turn_id?: string | null;
  depth?: number;
  reason: TransitionReason;
  step: number;
  attempt?: number;
  limit?: number | null;
  delay_ms?: number | null;
  error?: string | null;
  message?: string | null;
  max_tokens?: number | null;
}

/** Something the agent does not know, or takes for granted; told again with `resolved` once it is settled. `impact` is from 1 (little) to 5 (everything). `resolution` is who can settle an unknown: the person, or the agent itself. `source` is where it came from: the agent said so, or its words gave it away. `note` is how it was settled. */
export interface Uncertainty {
  type: "uncertainty";
  task_id?: string;
  turn_id?: string | null;
  seq?: number;
  timestamp?: string;
  parent_turn_id?: string | null;
  depth?: number;
  item_id: string;
  item: "assumption" | "unknown";
  text: string;
  impact: number;
  confidence?: number | null;
  resolved?: boolean;
  resolution?: "ask_user" | "find_out" | null;
  source?: "hedge" | "tool";
  note?: string | null;
}

export interface UncertaintyList {
  uncertainties: Array<UncertaintyView>;
}

/** Something the agent does not know or takes for granted. */
export interface UncertaintyView {
  item_id: string;
  turn_id: string;
  seq: number;
  item: "unknown" | "assumption";
  text: string;
  impact: number;
  confidence: number | null;
  resolution: "ask_user" | "find_out" | null;
  source: "tool" | "hedge";
  resolved: boolean;
  note: string | null;
  created_at: string;
  updated_at: string;
}

export interface UndoAnswer {
  turn_id: string;
  files: Array<UndoneFile>;
}

export interface UndoBody {
  turn_id?: string | null;
  force?: boolean;
}

export interface UndoneFile {
  path: string;
  action: "restored" | "removed";
}

/** What is left out stays as it is. */
export interface UpdateSkillBody {
  description?: string | null;
  category?: string | null;
  prompt?: string | null;
  capabilities?: Array<string> | null;
  scripts?: { [key: string]: string } | null;
}

export interface UploadAnswer {
  status?: string;
  filename: string;
  path: string;
  size: number;
  created: boolean;
  task_id: string;
}

/** Media the provider fetches by itself. */
export interface UrlSource {
  type: "url";
  url: string;
}

/** One per model call, and the mark that the call is complete. `cache_hit_tokens` are part of `input_tokens`. `endpoint` is who was asked, by the name that `circuit_state` has for it too. One without a turn is of a call that the engine made beside the task's turns, such as for its title. `estimated`: the call was cut off (`stop_reason` says by what) after its answer had begun, so its tokens are those the provider had named by then and an estimate of the rest; it completes nothing. Nor does one whose `purpose` is not a step. */
export interface Usage {
  type: "usage";
  task_id?: string;
  turn_id?: string | null;
  seq?: number;
  timestamp?: string;
  parent_turn_id?: string | null;
  depth?: number;
  step: number;
  message_id: string;
  model: string;
  stop_reason: string;
  input_tokens: number;
  output_tokens: number;
  cache_hit_tokens?: number;
  cache_write_tokens?: number;
  cost_usd?: number | null;
  duration_ms?: number | null;
  first_token_ms?: number | null;
  estimated?: boolean;
  endpoint?: string | null;
  purpose?: "goal" | "import" | "learning" | "plan" | "recall" | "sampling" | "skill" | "step" | "summary" | "verify";
}

export interface UsageReport {
  group: "day" | "model" | "user" | "task" | "turn";
  user: string;
  rows: Array<UsageRow>;
  total: Amounts;
}

export interface UsageRow {
  calls: number;
  input_tokens: number;
  output_tokens: number;
  cache_read_tokens: number;
  cache_write_tokens: number;
  cost_usd: number | null;
  unpriced_calls: number;
  key: string;
  user_id: string | null;
  task_id: string | null;
  turn_id: string | null;
  first_at: string;
  last_at: string;
}

export interface UseAnswer {
  task_id: string;
  turn_id: string;
  times: number;
  used_at: string;
}

export interface UserCount {
  user_id: string;
  records: number;
}

/** A message entered the turn; `origin: engine` marks text the engine itself put there, `import` what a client's history had before, `agent` the work that another agent hands over. `said_at` is when a person said it (to the minute, in the engine's time zone); the model is told, with the message. */
export interface UserMessage {
  type: "user_message";
  task_id?: string;
  turn_id?: string | null;
  seq?: number;
  timestamp?: string;
  parent_turn_id?: string | null;
  depth?: number;
  message_id: string;
  content: Array<TextBlock | ImageBlock | DocumentBlock | AudioBlock | VideoBlock>;
  origin?: "agent" | "engine" | "import" | "interrupt" | "queue" | "steer" | "user";
  edits?: string | null;
  retries?: string | null;
  said_at?: string | null;
}

export interface UtilityAnswer {
  days: Array<UtilityDay>;
}

export interface UtilityDay {
  day: string;
  learned: number;
  refused: number;
  reverted: number;
  promoted: number;
  retired: number;
  uses: number;
  helpful: number;
  harmful: number;
}

/** An answer was held against what the tools had said; `evidence` are the calls, `issues` what does not hold. `action` is what came of it: the answer is written again, got a note, or stands (`none`). One that was checked after its turn (`about_turn_id`) is to be corrected `later`, which `correct` in the next turn of the task does. `source` says who objected: the engine's own checks, or a model. `message_id` is the message that asks for a repair. */
export interface Verification {
  type: "verification";
  task_id?: string;
  turn_id?: string | null;
  seq?: number;
  timestamp?: string;
  parent_turn_id?: string | null;
  depth?: number;
  claim: string;
  verdict: "confirm" | "refute" | "uncertain";
  confidence: number;
  evidence?: Array<string>;
  action?: "correct" | "later" | "none" | "note" | "repair";
  issues?: Array<string>;
  source?: "checks" | "model";
  step?: number;
  about_turn_id?: string | null;
  message_id?: string | null;
}

export interface VideoBlock {
  type: "video";
  source: Base64Source | UrlSource;
}

/** A video: MP4, WebM, QuickTime or MPEG. */
export interface VideoPart {
  type: "video";
  source: InlineSource | AddressSource;
}

/** A message that waits for its turn. */
export interface Waiting {
  message_id: string;
  turn_id: string;
  mode: "queue" | "steer" | "interrupt";
  message: string;
  media: number;
  created_at: string;
}

/** What is waited for: one of `command` and `url`. It fires when it was not so before and is so now. */
export interface WatchPart {
  command?: string | null;
  url?: string | null;
  status?: number | null;
  every_seconds?: number;
}

export interface WayAnswer {
  text: string;
  score: number;
  edges: Array<string>;
}

export interface WayList {
  ways: Array<WayAnswer>;
}

export interface Wiped {
  user_id: string;
  forgotten: number;
}

export interface WorkAnswer {
  name: string;
  idle_seconds: number;
  cooldown_seconds: number;
  last: RunAnswer | null;
}

/** A piece of work. */
export interface WorkItemAnswer {
  item_id: string;
  board: string;
  subject: string;
  description: string;
  status: "pending" | "in_progress" | "completed" | "deleted";
  ready: boolean;
  owner: string | null;
  role: string | null;
  priority: number;
  worktree: string | null;
  result: string | null;
  version: number;
  blocked_by: Array<string>;
  waiting_for: Array<string>;
  task_id: string | null;
  owner_task_id: string | null;
  created_at: string;
  updated_at: string;
  claimed_at: string | null;
  completed_at: string | null;
}

/** An item of the work graph has changed, and stands so now. `by` is who changed it (`person` when it was one, over HTTP; `overrode` when that was the owner's to do), `unblocked` the items that became ready by it, `change_id` the change in the item's history. */
export interface WorkUpdate {
  type: "work_update";
  task_id?: string;
  turn_id?: string | null;
  seq?: number;
  timestamp?: string;
  parent_turn_id?: string | null;
  depth?: number;
  item_id: string;
  action: "claimed" | "completed" | "created" | "deleted" | "linked" | "released" | "reopened" | "updated";
  subject: string;
  status: "completed" | "deleted" | "in_progress" | "pending";
  change_id?: string;
  board?: string;
  version?: number;
  by?: string;
  person?: boolean;
  overrode?: boolean;
  owner?: string | null;
  role?: string | null;
  priority?: number;
  worktree?: string | null;
  blocked_by?: Array<string>;
  unblocked?: Array<string>;
  reason?: string | null;
}

/** A workflow that can be run. */
export interface WorkflowEntry {
  name: string;
  description: string;
  args: { [key: string]: unknown };
  max_agents: number | null;
  max_usd: number | null;
  max_tokens: number | null;
}

export interface WorkflowList {
  workflows: Array<WorkflowEntry>;
}

/** A run, as it stands. */
export interface WorkflowRunAnswer {
  run_id: string;
  workflow: string;
  task_id: string;
  status: "running" | "completed" | "failed" | "cancelled" | "interrupted";
  args: { [key: string]: unknown };
  attempts: number;
  phase: string;
  agents: number;
  cached: number;
  cost_usd: number;
  tokens: number;
  result?: unknown;
  problem: string;
  created_at: string;
  updated_at: string;
  calls?: Array<CallAnswer> | null;
}

/** A run of a workflow moves on. `call_key` is the call of an agent in its journal, `child_task_id` where that agent works; `agents` were begun since the run was taken up, `cached` calls were not made again. */
export interface WorkflowUpdate {
  type: "workflow_update";
  task_id?: string;
  turn_id?: string | null;
  seq?: number;
  timestamp?: string;
  parent_turn_id?: string | null;
  depth?: number;
  run_id: string;
  workflow: string;
  action: "agent_cached" | "agent_completed" | "agent_failed" | "agent_started" | "cancelled" | "completed" | "failed" | "log" | "phase" | "resumed" | "started";
  phase?: string;
  label?: string;
  call_key?: string;
  child_task_id?: string;
  message?: string;
  attempt?: number;
  agents?: number;
  cached?: number;
  cost_usd?: number;
}

export interface WorkingMemoryUpdate {
  type: "working_memory_update";
  task_id?: string;
  turn_id?: string | null;
  seq?: number;
  timestamp?: string;
  parent_turn_id?: string | null;
  depth?: number;
  entry_id: string;
  entry_type: EntryType;
  text: string;
  expires_at?: string | null;
}

/** A worktree. */
export interface WorktreeAnswer {
  worktree_id: string;
  name: string;
  branch: string;
  repository: string;
  path: string;
  base: string | null;
  status: "creating" | "active" | "kept" | "removing" | "removed" | "failed";
  item_id: string;
  in_use: boolean;
  problem: string | null;
  reason: string | null;
  created_by: string;
  person: boolean;
  created_at: string;
  updated_at: string;
}

export interface WorktreeBody {
  name: string;
  item_id: string;
  repository?: string;
  base?: string | null;
  task_id?: string | null;
}

/** Something has become of a worktree: it was made for the item `work_task_id`, or could not be (`failed`), whoever claimed that works there from here on (`entered`), a person wants it to stay (`kept`), or it is gone (`removed`). */
export interface WorktreeEvent {
  type: "worktree_event";
  task_id?: string;
  turn_id?: string | null;
  seq?: number;
  timestamp?: string;
  parent_turn_id?: string | null;
  depth?: number;
  name: string;
  action: "created" | "entered" | "failed" | "kept" | "removed";
  path?: string | null;
  branch?: string | null;
  work_task_id?: string | null;
  reason?: string | null;
  worktree_id?: string;
}

export interface WorktreePage {
  worktrees: Array<WorktreeAnswer>;
  next: string | null;
}

/** What something learned is worth by now. */
export interface Worth {
  worth: number;
  uses: number;
  helpful: number;
  harmful: number;
  hit_rate: number | null;
  evidence: number;
  wins: number;
  losses: number;
  gain: number | null;
}

export interface WrittenAnswer {
  action: "created" | "duplicate" | "superseded" | "late";
  record: Record;
  replaced: Array<string>;
}

export interface aster__server__doors__chat_body__FileItem {
  type: "file";
  file: FileData;
}

export interface aster__server__doors__chat_body__FunctionTool {
  name: string;
  description?: string | null;
  parameters?: { [key: string]: unknown } | null;
  strict?: boolean | null;
}

export interface aster__server__doors__chat_body__ImageItem {
  type: "image_url";
  image_url: ImageAddress;
}

export interface aster__server__doors__chat_body__NamedChoice {
  type: "function";
  function: NamedFunction;
}

export interface aster__server__doors__chat_body__TextItem {
  type: "text";
  text: string;
}

export interface aster__server__doors__responses_body__FileItem {
  type: "input_file";
  file_data?: string | null;
  file_url?: string | null;
  filename?: string | null;
}

export interface aster__server__doors__responses_body__FunctionTool {
  type: string;
  name?: string;
  description?: string | null;
  parameters?: { [key: string]: unknown } | null;
  strict?: boolean | null;
}

export interface aster__server__doors__responses_body__ImageItem {
  type: "input_image";
  image_url?: string | null;
}

export interface aster__server__doors__responses_body__NamedChoice {
  type: "function";
  name: string;
}

export interface aster__server__doors__responses_body__TextItem {
  type: "input_text" | "output_text" | "text";
  text: string;
}

export interface aster__server__learning_answers__RunBody {
  works?: Array<string>;
  wait?: boolean;
}

export interface aster__server__routes__workflows__RunBody {
  args?: { [key: string]: unknown };
  task_id?: string | null;
  permission_mode?: "default" | "plan" | "auto" | "bypass" | null;
  unattended?: boolean;
}
