#include "cli/jobs/log_stream.h"

#include <algorithm>
#include <chrono>
#include <ctime>
#include <utility>

#include "cli/gcloud/output_format.h"

namespace trainyard::cli {
namespace {

/// "2026-11-20T18:02:37.096867Z"
std::string Microseconds(SysTime time) {
  auto micros = std::chrono::floor<std::chrono::microseconds>(time);
  std::time_t seconds = std::chrono::floor<std::chrono::seconds>(micros).time_since_epoch().count();
  std::tm utc{};
  gmtime_r(&seconds, &utc);
  char text[64];
  std::string out(text, std::strftime(text, sizeof text, kDateFormat, &utc));
  std::string fraction = std::to_string(micros.time_since_epoch().count() % 1'000'000);
  return out + "." + std::string(6 - fraction.size(), '0') + fraction + "Z";
}

/// A member whose name has dots ("ml.googleapis.com/task_name").
const Json* Member(const Json* object, std::string_view name) {
  if (object == nullptr) return nullptr;
  for (const Json& member : object->children)
    if (member.name == name && member.kind != Json::Kind::kNull) return &member;
  return nullptr;
}

const Json* FirstOf(std::initializer_list<const Json*> candidates) {
  for (const Json* candidate : candidates)
    if (candidate != nullptr) return candidate;
  return nullptr;
}

std::string Message(const Json& entry) {
  if (const Json* payload = FindMember(entry, "jsonPayload"); payload != nullptr) {
    const Json* message = FindMember(*payload, "message");
    bool is_leaf =
        message != nullptr && message->kind != Json::Kind::kObject && message->kind != Json::Kind::kArray;
    return message == nullptr ? std::string() : is_leaf ? message->text : PrintCompact(*message);
  }
  return TextAt(entry, "textPayload");
}

}  // namespace

std::vector<ServerEvent> EventParser::TakeBytes(std::string_view bytes) {
  std::vector<ServerEvent> events;
  while (!bytes.empty()) {
    if (std::exchange(after_return_, false) && bytes.front() == '\n') {
      bytes.remove_prefix(1);
      continue;
    }
    const std::size_t end = bytes.find_first_of("\r\n");
    line_.append(bytes.substr(0, end));
    if (end == std::string_view::npos) break;
    after_return_ = bytes[end] == '\r';
    bytes.remove_prefix(end + 1);
    TakeLine(line_, events);
    line_.clear();
  }
  return events;
}

void EventParser::TakeLine(std::string_view line, std::vector<ServerEvent>& events) {
  if (line.empty()) {
    if (std::exchange(has_data_, false)) events.push_back(event_);
    event_.type.clear();
    event_.data.clear();
    return;
  }
  const std::size_t colon = line.find(':');
  const std::string_view name = line.substr(0, colon);
  std::string_view value = colon == std::string_view::npos ? std::string_view() : line.substr(colon + 1);
  if (value.starts_with(' ')) value.remove_prefix(1);
  if (name == "data") {
    if (std::exchange(has_data_, true)) event_.data += '\n';
    event_.data += value;
  } else if (name == "event") {
    event_.type = value;
  } else if (name == "id" && !value.contains('\0')) {
    event_.id = value;
  }
}

bool LogPosition::Advance(std::string_view timestamp, std::string_view insert_id) {
  if (timestamp < timestamp_) return false;
  if (timestamp == timestamp_ && insert_id <= insert_id_) return false;
  shared_timestamp_ = timestamp == timestamp_;
  timestamp_ = timestamp;
  insert_id_ = insert_id;
  return true;
}

std::string LogPosition::LowerBound() const {
  if (!shared_timestamp_) return "timestamp>=\"" + timestamp_ + "\"";
  return "((timestamp=\"" + timestamp_ + "\" AND insertId>\"" + insert_id_ + "\") OR timestamp>\"" +
         timestamp_ + "\")";
}

Json LogRequest(const JobLogQuery& query, const LogPosition& position, std::optional<SysTime> until,
                int page_size, const std::string& page_token) {
  std::string filter =
      "(resource.type=\"ml_job\" OR resource.type=\"cloudml_job\") AND resource.labels.job_id=\"" +
      query.job_id + "\"";
  if (query.task_name)
    filter += " AND (resource.labels.task_name=\"" + *query.task_name + "\" OR labels.task_name=\"" +
              *query.task_name + "\")";
  filter += " AND " + position.LowerBound();
  if (until) filter += " AND timestamp<\"" + Microseconds(*until) + "\"";
  Json request = JsonObject({{"filter", JsonString(std::move(filter))},
                             {"orderBy", JsonString("timestamp asc")},
                             {"pageSize", JsonNumber(std::to_string(page_size))}});
  if (!page_token.empty()) SetMember(request, "pageToken", JsonString(page_token));
  SetMember(request, "resourceNames", JsonArray({"projects/" + query.project}));
  return request;
}

std::vector<std::string_view> SplitLines(std::string_view text) {
  std::vector<std::string_view> lines;
  std::size_t start = 0;
  for (std::size_t i = 0; i < text.size();) {
    auto c = static_cast<unsigned char>(text[i]);
    std::size_t length = 0;
    if (text.substr(i).starts_with("\r\n") || text.substr(i).starts_with("\xc2\x85"))
      length = 2;
    else if ((c >= 0x0a && c <= 0x0d) || (c >= 0x1c && c <= 0x1e))
      length = 1;
    else if (text.substr(i).starts_with("\xe2\x80\xa8") || text.substr(i).starts_with("\xe2\x80\xa9"))
      length = 3;
    if (length == 0) {
      ++i;
      continue;
    }
    lines.push_back(text.substr(start, i - start));
    i += length;
    start = i;
  }
  if (start < text.size()) lines.push_back(text.substr(start));
  return lines;
}

std::vector<std::string> LogLines(const Json& entry, bool multiline) {
  const Json* labels = FindMember(entry, "labels");
  const Json* task = FirstOf({Member(FindMember(entry, "resource.labels"), "task_name"),
                              Member(labels, "task_name"), Member(labels, "ml.googleapis.com/task_name")});
  const Json* trial = FirstOf({Member(labels, "trial_id"), Member(labels, "ml.googleapis.com/trial_id")});
  std::string severity = TextAt(entry, "severity");
  std::string head = (severity.empty() ? "DEFAULT" : severity) + "\t" +
                     LocalTime(TextAt(entry, "timestamp"), kLogTimeFormat) + "\t" +
                     (task == nullptr ? "unknown_task" : task->text) + "\t" +
                     (trial == nullptr ? "" : trial->text) + "\t";
  std::string message = Message(entry);
  if (multiline) return {head + message};
  std::vector<std::string> lines;
  for (std::string_view line : SplitLines(message)) lines.push_back(head + std::string(line));
  if (lines.empty()) lines.push_back(head);
  return lines;
}

}  // namespace trainyard::cli
