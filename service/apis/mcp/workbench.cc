#include "service/apis/mcp/workbench.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "runtime/values/json_text.h"

namespace service::mcp {

namespace {

constexpr size_t kTextOfTried = 4 << 10;
// KiB that reading a file may return: the session decides what open() is.
constexpr int64_t kPartOfFile = ReadFile::kMost / 1024 + 64;

// Its names are in no state: the node that it leaves is dropped.
constexpr const char* kReader = R"(
def _zygo_read(wanted):
    import io, os
    path, offset, length, usual, most = wanted
    with io.open(path, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        if offset:
            file.seek(offset)
        content = file.read(length or usual)
        if not length and content.startswith((b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff")):
            content += file.read(most - len(content))
    return [size, content]
)";

constexpr const char* kCancelled =
    "The call was cancelled. The state of the session is that before this call.";

Json limited(Json fields, const std::optional<int64_t>& timeout_ms) {
  if (timeout_ms) fields["limits"] = {{"wall_ms", *timeout_ms}, {"cpu_ms", *timeout_ms}};
  return fields;
}

struct FilePart {
  uint64_t size = 0;
  std::string content;
};

// What _zygo_read() returned, as the JSON of the one call's value.
std::optional<FilePart> part_in(const std::string& result) {
  const Json values = Json::parse(result, nullptr, false);
  if (!values.is_array() || values.size() != 1) return std::nullopt;
  const Json& pair = values[0];
  if (!pair.is_array() || pair.size() != 2 || !pair[0].is_number_unsigned()) return std::nullopt;
  const Json& bytes = pair[1];
  if (!bytes.is_object() || !bytes.contains("data") || !bytes["data"].is_string())
    return std::nullopt;
  FilePart part{pair[0].get<uint64_t>(), {}};
  if (!runtime::append_from_base64(bytes["data"].get<std::string>(), part.content))
    return std::nullopt;
  return part;
}

}  // namespace

Workbench::~Workbench() {
  alive_.reset();  // one that is withdrawn may say so at once
  std::vector<ErrandPtr> running;
  if (active_) running.push_back(active_);
  for (const auto& [key, errand] : beside_) running.push_back(errand);
  for (const ErrandPtr& errand : running) {
    errand->is_cancelled = true;
    const auto tickets = errand->tickets;
    for (const Interpreter::Ticket ticket : tickets) interpreter_->withdraw(ticket);
  }
  interpreter_->end();
}

void Workbench::start(Key key, ToolCall call, Progress progress, Told told) {
  auto errand = std::make_shared<Errand>();
  errand->key = key;
  errand->call = std::move(call);
  errand->progress = std::move(progress);
  errand->told = std::move(told);
  if (waiting_.size() + beside_.size() >= kMostWaiting)
    return errand->told(refused_result("Too many calls of this client wait already."));
  if (std::holds_alternative<RunProgram>(errand->call)) {
    beside_.emplace(key, errand);
    return perform(errand);
  }
  waiting_.push_back(errand);
  next();
}

void Workbench::cancel(Key key) {
  const auto is_it = [key](const ErrandPtr& errand) { return errand->key == key; };
  if (const auto waits = std::ranges::find_if(waiting_, is_it); waits != waiting_.end()) {
    const ErrandPtr errand = *waits;
    waiting_.erase(waits);
    return errand->told(refused_result(kCancelled));
  }
  const auto beside = beside_.find(key);
  const ErrandPtr errand = beside != beside_.end() ? beside->second : active_;
  if (!errand || errand->key != key) return;
  errand->is_cancelled = true;
  const auto tickets = errand->tickets;
  for (const Interpreter::Ticket ticket : tickets) interpreter_->withdraw(ticket);
}

// A session begins with the first call that needs it.
void Workbench::next() {
  if (active_ || waiting_.empty()) return;
  active_ = waiting_.front();
  waiting_.pop_front();
  const ErrandPtr errand = active_;
  if (!path_.empty()) return perform(errand);
  const Interpreter::Ticket ticket =
      interpreter_->begin([this, errand, alive = std::weak_ptr(alive_)](Interpreter::Begun begun) {
        if (alive.expired()) return;
        if (begun.node.empty()) {
          return finish(errand, refused_result(errand->is_cancelled ? kCancelled : begun.refusal));
        }
        path_ = {std::move(begun.node)};
        forgotten_ = 0;
        perform(errand);
      });
  if (ticket != 0) errand->tickets.push_back(ticket);
}

void Workbench::perform(const ErrandPtr& errand) {
  errand->tickets.clear();
  if (errand->is_cancelled) return finish(errand, refused_result(kCancelled));
  std::visit([this, &errand](const auto& call) { run(errand, call); }, errand->call);
}

void Workbench::finish(const ErrandPtr& errand, Json result) {
  if (active_ == errand) active_ = nullptr;
  beside_.erase(errand->key);
  const auto alive = std::weak_ptr(alive_);
  errand->told(std::move(result));
  if (!alive.expired()) next();
}

void Workbench::move_on(std::string node) {
  path_.push_back(std::move(node));
  if (path_.size() <= kMostUndo + 1) return;
  interpreter_->forget(path_.front());
  path_.erase(path_.begin());
  ++forgotten_;
}

Json Workbench::lose_state(std::string_view why) {
  interpreter_->end();
  path_.clear();
  return refused_result(fmt::format(
      "The state of the session is lost ({}). The next call begins a new one, in which nothing is "
      "defined.",
      why));
}

Standing Workbench::take(const ErrandPtr& errand, const Interpreter::Ended& ended) {
  if (ended.node.empty()) return {false, ended.why_not, steps()};
  if (errand->is_cancelled) {
    interpreter_->forget(ended.node);
    return {false, "the call was cancelled", steps()};
  }
  move_on(ended.node);
  return {true, "", steps()};
}

void Workbench::step(const ErrandPtr& errand, const Json& fields, Bounds bounds,
                     std::function<void(Interpreter::Ended)> then) {
  if (errand->progress) errand->progress(0, 1);
  auto told = [this, errand, then = std::move(then),
               alive = std::weak_ptr(alive_)](Interpreter::Ended ended) {
    if (alive.expired()) return;
    if (ended.is_gone) return finish(errand, lose_state(ended.refusal));
    if (!ended.outcome) return finish(errand, refused_result(ended.refusal));
    then(std::move(ended));
  };
  const auto ticket = interpreter_->run(path_.back(), fields, bounds, std::move(told));
  errand->tickets.push_back(ticket);
}

void Workbench::run(const ErrandPtr& errand, const RunPython& call) {
  step(errand, limited({{"source", call.code}}, call.timeout_ms), {},
       [this, errand](const Interpreter::Ended& ended) {
         const Standing after = take(errand, ended);
         finish(errand, step_result(*ended.outcome, after));
       });
}

void Workbench::run(const ErrandPtr& errand, const TryMany& call) {
  errand->tried.resize(call.codes.size());
  errand->nodes.resize(call.codes.size());
  if (errand->progress) errand->progress(0, call.codes.size());
  const Bounds bounds{.text = kTextOfTried, .images = 0};
  const std::string node = path_.back();
  for (size_t i = 0; i < call.codes.size(); ++i) {
    auto told = [this, errand, i, alive = std::weak_ptr(alive_)](Interpreter::Ended ended) {
      if (!alive.expired()) end_try(errand, i, std::move(ended));
    };
    Json fields = limited({{"source", call.codes[i]}}, call.timeout_ms);
    if (call.keep != i) fields["keep"] = false;
    const auto ticket = interpreter_->run(node, fields, bounds, std::move(told));
    errand->tickets.push_back(ticket);
  }
}

void Workbench::end_try(const ErrandPtr& errand, size_t index, Interpreter::Ended ended) {
  const auto& call = std::get<TryMany>(errand->call);
  if (ended.is_gone) errand->gone = ended.refusal;
  errand->tried[index] = {std::move(ended.outcome), std::move(ended.refusal)};
  if (!ended.node.empty()) {
    const bool is_wanted = call.keep == index && !errand->is_cancelled;
    is_wanted ? void(errand->nodes[index] = std::move(ended.node))
              : interpreter_->forget(ended.node);
  }
  ++errand->ended;
  const bool tells = errand->progress && !errand->is_cancelled;
  if (tells && errand->ended < call.codes.size())
    errand->progress(errand->ended, call.codes.size());
  if (errand->ended == call.codes.size()) conclude_try(errand);
}

void Workbench::conclude_try(const ErrandPtr& errand) {
  const auto& call = std::get<TryMany>(errand->call);
  const bool has_next = call.keep && !errand->nodes[*call.keep].empty();
  if (!errand->gone.empty() && !has_next) return finish(errand, lose_state(errand->gone));
  std::optional<size_t> kept;
  if (has_next) {
    std::string node = std::move(errand->nodes[*call.keep]);
    if (errand->is_cancelled) {
      interpreter_->forget(node);
    } else {
      kept = call.keep;
      move_on(std::move(node));
    }
  }
  const Standing after{kept.has_value(), "", steps()};
  finish(errand, tried_result(errand->tried, kept, after, call.keep.has_value()));
}

void Workbench::run(const ErrandPtr& errand, const Undo& call) {
  size_t undone = 0;
  while (path_.size() > 1 && undone < static_cast<size_t>(call.steps)) {
    interpreter_->forget(path_.back());
    path_.pop_back();
    ++undone;
  }
  if (undone == 0)
    return finish(errand, refused_result("There is no step to undo: this is the first state that "
                                         "is kept."));
  finish(errand, undo_result(undone, steps()));
}

void Workbench::run(const ErrandPtr& errand, const ReadFile& call) {
  const Json wanted = {call.path, call.offset, call.length, ReadFile::kUsual, ReadFile::kMost};
  const Json fields = {{"source", kReader},    {"mode", "call"},
                       {"func", "_zygo_read"}, {"inputs", Json::array({wanted})},
                       {"keep", false},        {"limits", {{"value_kb", kPartOfFile}}}};
  Bounds bounds;
  bounds.wants_result = true;
  step(errand, fields, bounds, [this, errand, call](const Interpreter::Ended& ended) {
    if (!ended.node.empty()) interpreter_->forget(ended.node);
    const Outcome& outcome = *ended.outcome;
    const auto part = outcome.ok ? part_in(outcome.result) : std::nullopt;
    if (part) return finish(errand, file_result(call, part->size, part->content));
    const std::string why = outcome.exception ? outcome.exception->message : outcome.why;
    finish(errand, refused_result(fmt::format("{}: {}", outcome.label, why)));
  });
}

void Workbench::run(const ErrandPtr& errand, const WriteFile& call) {
  std::string decoded;
  if (call.is_base64 && !runtime::append_from_base64(call.content, decoded))
    return finish(errand, refused_result("base64: this is not base64"));
  const size_t size = call.is_base64 ? decoded.size() : call.content.size();
  const Json file = {{call.is_base64 ? "b64" : "text", call.content}};
  step(errand, {{"source", ""}, {"files", {{call.path, file}}}}, {},
       [this, errand, call, size](const Interpreter::Ended& ended) {
         const Standing after = take(errand, ended);
         finish(errand, written_result(call, size, *ended.outcome, after));
       });
}

void Workbench::run(const ErrandPtr& errand, const RunProgram& call) {
  if (errand->progress) errand->progress(0, 1);
  Json fields = {{"template", template_of(call.language)},
                 {"source", call.source},
                 {"stdin", call.standard_in}};
  auto told = [this, errand, alive = std::weak_ptr(alive_)](Interpreter::Ended ended) {
    if (alive.expired()) return;
    finish(errand, ended.outcome ? program_result(*ended.outcome) : refused_result(ended.refusal));
  };
  const auto ticket =
      interpreter_->run_job(limited(std::move(fields), call.timeout_ms), {}, std::move(told));
  errand->tickets.push_back(ticket);
}

}  // namespace service::mcp
