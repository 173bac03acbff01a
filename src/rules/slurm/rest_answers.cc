#include "rules/slurm/rest_answers.h"

#include <algorithm>
#include <array>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <map>
#include <optional>
#include <utility>

#include "base/ascii.h"

namespace trainyard::slurm {

namespace {

namespace json = boost::json;
using Words = std::vector<std::string>;

constexpr std::size_t kShownMax = 200;

json::object Parsed(std::string_view text) {
  boost::system::error_code error;
  json::value value = json::parse(text, error);
  if (error || !value.is_object()) return {};
  return std::move(value.as_object());
}

const json::value* Member(const json::object& object, std::string_view name) {
  return object.if_contains(name);
}

std::string Text(const json::object& object, std::string_view name) {
  const json::value* value = Member(object, name);
  const json::string* text = value != nullptr ? value->if_string() : nullptr;
  return text != nullptr ? std::string(*text) : std::string();
}

/// Nullopt: it is missing, null, not set or infinite.
std::optional<std::int64_t> Number(const json::value* value) {
  if (value == nullptr) return std::nullopt;
  if (const json::object* form = value->if_object()) {
    const json::value* set = Member(*form, "set");
    if (set == nullptr || !set->is_bool() || !set->as_bool()) return std::nullopt;
    return Number(Member(*form, "number"));
  }
  boost::system::error_code error;
  const auto number = value->to_number<std::int64_t>(error);
  if (error || number < 0) return std::nullopt;
  return number;
}

std::int64_t NumberOf(const json::object& object, std::string_view name) {
  return Number(Member(object, name)).value_or(0);
}

/// A word, or a list of them.
Words WordsOf(const json::object& object, std::string_view name) {
  const json::value* value = Member(object, name);
  if (value == nullptr) return {};
  if (const json::string* word = value->if_string()) return {std::string(*word)};
  Words words;
  if (const json::array* list = value->if_array())
    for (const json::value& item : *list)
      if (const json::string* word = item.if_string()) words.emplace_back(*word);
  return words;
}

bool Has(const Words& words, std::string_view word) {
  return std::ranges::any_of(words, [word](const std::string& one) { return EqualsIgnoringCase(one, word); });
}

/// An array of objects, the main member of a response.
Result<std::vector<json::object>> List(json::object answer, std::string_view name) {
  json::value* value = answer.if_contains(name);
  if (value == nullptr || !value->is_array())
    return std::unexpected(Error{Code::kInternal,
                                 "slurmrestd's answer has no " + std::string(name) + ": " +
                                     json::serialize(answer).substr(0, kShownMax),
                                 {}});
  std::vector<json::object> items;
  for (json::value& item : value->as_array())
    if (item.is_object()) items.push_back(std::move(item.as_object()));
  return items;
}

/// The state as squeue prints it: the first of these flags that is set, or else the state. Source:
/// job_state_string of Slurm's slurm_protocol_defs.c.
std::string StateOf(const Words& words) {
  constexpr std::array<std::string_view, 12> kFlags{
      "COMPLETING",   "STAGE_OUT",    "CONFIGURING", "RESIZING", "REQUEUED",      "REQUEUE_FED",
      "REQUEUE_HOLD", "SPECIAL_EXIT", "STOPPED",     "REVOKED",  "RESV_DEL_HOLD", "SIGNALING"};
  for (const std::string_view flag : kFlags)
    if (Has(words, flag)) return std::string(flag);
  return words.empty() ? std::string() : words.front();
}

bool IsOf(const json::object& job, const JobOwner& owner) {
  if (const std::string name = Text(job, "user_name"); !name.empty() && name == owner.name) return true;
  return Number(Member(job, "user_id")) == owner.number;
}

ListedJob JobOf(const json::object& job) {
  ListedJob listed{.id = NumberOf(job, "job_id"),
                   .name = Text(job, "name"),
                   .comment = Text(job, "comment"),
                   .state_text = StateOf(WordsOf(job, "job_state")),
                   .nodes = Text(job, "nodes"),
                   .reason = Text(job, "state_description")};
  listed.state = ParseJobState(listed.state_text);
  if (listed.reason.empty()) listed.reason = Text(job, "state_reason");
  return listed;
}

/// sinfo's short form of a node's state and its flags, for IsUsable.
std::string ShortState(const Words& words) {
  const std::string base = words.empty() ? std::string() : ToLower(words.front());
  const bool is_busy = base == "allocated" || base == "mixed" || Has(words, "completing");
  std::string state = base == "allocated" ? "alloc" : base == "mixed" ? "mix" : base.substr(0, 5);
  if (base == "unknown") state = "unk";
  if (Has(words, "invalid_reg")) state = "inval";
  if (Has(words, "fail")) state = is_busy ? "failg" : "fail";
  if (Has(words, "drain")) state = is_busy ? "drng" : "drain";
  return state + (Has(words, "not_responding") ? "*" : "");
}

/// A partition's properties for its nodes.
struct Partition {
  bool is_default = false;
  bool is_up = false;
  std::int64_t time_limit_minutes = 0;
};

/// 22.05 has the fields at the top level, later versions in groups.
Partition PartitionOf(const json::object& object) {
  const auto group = [&object](std::string_view name) {
    const json::value* value = Member(object, name);
    return value != nullptr && value->is_object() ? value->as_object() : json::object();
  };
  const json::value* limit = Member(object, "max_time_limit");
  const json::object maximums = group("maximums");
  if (limit == nullptr) limit = Member(maximums, "time");
  return {.is_default = Has(WordsOf(object, "flags"), "default"),
          .is_up = Has(WordsOf(object, "state"), "UP") || Has(WordsOf(group("partition"), "state"), "UP"),
          .time_limit_minutes = Number(limit).value_or(0)};
}

Node NodeOf(const json::object& object) {
  Words state = WordsOf(object, "state");
  const Words flags = WordsOf(object, "state_flags");
  state.insert(state.end(), flags.begin(), flags.end());
  return {.name = Text(object, "name"),
          .cpus = static_cast<int>(NumberOf(object, "cpus")),
          .memory_mib = NumberOf(object, "real_memory"),
          .state = ShortState(state),
          .address = Text(object, "address"),
          .gpus = ParseGpus(Text(object, "gres"))};
}

}  // namespace

Result<std::vector<ListedJob>> ParseRestJobs(std::string_view answer, const JobOwner& owner) {
  TY_TRY(const std::vector<json::object> jobs, List(Parsed(answer), "jobs"));
  std::vector<ListedJob> listed;
  for (const json::object& job : jobs)
    if (IsOf(job, owner)) listed.push_back(JobOf(job));
  std::erase_if(listed, [](const ListedJob& job) { return job.id < 1; });
  return listed;
}

Result<std::vector<Node>> ParseRestNodes(std::string_view nodes, std::string_view partitions) {
  TY_TRY(const std::vector<json::object> node_objects, List(Parsed(nodes), "nodes"));
  TY_TRY(const std::vector<json::object> partition_objects, List(Parsed(partitions), "partitions"));
  std::map<std::string, Partition> known;
  for (const json::object& object : partition_objects) known[Text(object, "name")] = PartitionOf(object);
  if (known.size() == 1) known.begin()->second.is_default = true;
  std::vector<Node> found;
  for (const json::object& object : node_objects) {
    for (const std::string& name : WordsOf(object, "partitions")) {
      const Partition& partition = known[name];
      Node& node = found.emplace_back(NodeOf(object));
      node.partition = name;
      node.default_partition = partition.is_default;
      node.partition_up = partition.is_up;
      node.time_limit_minutes = partition.time_limit_minutes;
    }
  }
  return found;
}

std::int64_t ParseRestSubmitted(std::string_view answer) {
  const std::int64_t id = NumberOf(Parsed(answer), "job_id");
  return id > 0 ? id : -1;
}

std::string ParseRestError(std::string_view answer) {
  const json::object parsed = Parsed(answer);
  for (const std::string_view list : {"errors", "status"}) {
    const json::value* errors = Member(parsed, list);
    if (errors == nullptr || !errors->is_array()) continue;
    for (const json::value& item : errors->as_array()) {
      if (!item.is_object()) continue;
      // In the "status" of a job to be killed, the error is one level deeper.
      const json::value* nested = Member(item.as_object(), "error");
      const bool is_below = nested != nullptr && nested->is_object();
      std::string words = is_below ? Text(nested->as_object(), "string") : Text(item.as_object(), "error");
      const std::string more = Text(item.as_object(), "description");
      if (words.empty() || words == "Unspecified error") words = more;
      if (!words.empty() && words != "No error") return words;
    }
  }
  return {};
}

}  // namespace trainyard::slurm
