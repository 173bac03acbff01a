#include "rules/notices/notice.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/text/json_string.h"
#include "base/wire/time.h"

namespace trainyard::notices {

namespace {

/// A JSON object from the members that have a value, in their order.
class JsonObject {
 public:
  void Add(std::string_view key, std::string_view text) {
    if (!text.empty()) AddRaw(key, text::QuoteJson(text));
  }
  void AddRaw(std::string_view key, const std::string& value) {
    members_ += (members_.empty() ? "" : ",") + text::QuoteJson(key) + ":" + value;
  }
  [[nodiscard]] std::string Print() const { return "{" + members_ + "}"; }

 private:
  std::string members_;
};

std::string TimeText(bool is_set, const google::protobuf::Timestamp& time) {
  return is_set ? wire::PrintTime(wire::FromProto(time)) : "";
}

std::string Labels(const ml::v1::Job& job) {
  std::vector<std::pair<std::string, std::string>> sorted(job.labels().begin(), job.labels().end());
  std::ranges::sort(sorted);
  JsonObject object;
  for (const auto& [key, value] : sorted) object.Add(key, value);
  return object.Print();
}

std::string Subject(const control::v1::JobRecord& job, Event event) {
  const std::string verb = event == Event::kWaiting     ? "still waits to start"
                           : event == Event::kCancelled ? "was cancelled"
                                                        : std::string(EventName(event));
  return "Job " + job.job().job_id() + " " + verb + " (project " + job.project() + ")";
}

}  // namespace

std::optional<Event> EndOf(const control::v1::JobRecord& job) {
  switch (job.job().state()) {
    case ml::v1::Job::SUCCEEDED: return Event::kSucceeded;
    case ml::v1::Job::FAILED: return Event::kFailed;
    case ml::v1::Job::CANCELLED: return Event::kCancelled;
    default: return std::nullopt;
  }
}

std::optional<SysTime> LongWaitAt(const control::v1::JobRecord& job, std::chrono::seconds limit) {
  if (job.has_trial() || job.has_running_time() || EndOf(job) || !job.job().has_create_time())
    return std::nullopt;
  const bool waits = job.job().state() == ml::v1::Job::QUEUED || job.job().state() == ml::v1::Job::PREPARING;
  if (!waits) return std::nullopt;
  return wire::FromProto(job.job().create_time()) + limit;
}

Notice Compose(const control::v1::JobRecord& job, Event event, const std::string& server_url,
               const std::string& why_waiting) {
  const ml::v1::Job& shown = job.job();
  const std::string why = event == Event::kWaiting ? why_waiting : shown.error_message();
  const std::string link = server_url + "/ui/p/" + job.project() + "/jobs/" + shown.job_id();
  // The number alone would be that of another server's job, too.
  Notice notice{.id = std::to_string(job.uid()) + "-" + std::to_string(job.job().create_time().seconds()) +
                      "-" + std::string(EventName(event)),
                .job = "projects/" + job.project() + "/jobs/" + shown.job_id(),
                .subject = Subject(job, event)};
  notice.text = notice.subject + ".\n" + (why.empty() ? "" : "\n" + why + "\n") + "\n" + link + "\n";
  JsonObject json;
  json.Add("id", notice.id);
  json.Add("event", EventName(event));
  json.Add("job", notice.job);
  json.Add("project", job.project());
  json.Add("jobId", shown.job_id());
  json.Add("state", ml::v1::Job::State_Name(shown.state()));
  json.Add("createTime", TimeText(shown.has_create_time(), shown.create_time()));
  json.Add("startTime", TimeText(shown.has_start_time(), shown.start_time()));
  json.Add("endTime", TimeText(shown.has_end_time(), shown.end_time()));
  json.Add("errorMessage", shown.error_message());
  json.Add("waitsFor", event == Event::kWaiting ? why_waiting : "");
  json.Add("creator", job.creator());
  json.AddRaw("labels", Labels(shown));
  json.Add("url", link);
  json.Add("text", notice.text);
  notice.json = json.Print();
  return notice;
}

std::optional<SysTime> NextTry(int tries, SysTime created, SysTime now) {
  if (now - created >= kDeliverFor) return std::nullopt;
  constexpr int kDoublingsMax = 12;  // 4096 seconds: beyond kPauseMax
  return now + std::min(kPauseMax, std::chrono::seconds(1 << std::clamp(tries - 1, 0, kDoublingsMax)));
}

}  // namespace trainyard::notices
