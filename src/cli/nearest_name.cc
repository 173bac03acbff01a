#include "cli/nearest_name.h"

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text/suggestion.h"
#include "cli/storage/storage_objects.h"
#include "programs/environment/catalogue.h"

namespace trainyard::cli {
namespace {

std::string Hint(const std::string& word, const std::vector<std::string>& names) {
  const std::vector<std::string_view> choices(names.begin(), names.end());
  return text::DidYouMean(word, choices);
}

/// At the end of the first line: the details of an error follow it.
void AddHint(std::string& message, const std::string& hint) {
  if (hint.empty()) return;
  const std::size_t end = std::min(message.find('\n'), message.size());
  const bool ended = end > 0 && std::string_view(".?!").contains(message[end - 1]);
  message.insert(end, (ended ? " " : ". ") + hint);
}

std::string JobHint(const CommandSession& session) {
  const JobReference job = ParseJobReference(session, session.arguments.positionals.front());
  if (job.project != session.project.value) return "";
  const Result<std::vector<std::string>> names = JobNames(session);
  if (!names) return "";
  if (names->empty())
    return "The project '" + job.project + "' (from: " + session.project.source + ") has no jobs.";
  return Hint(job.job_id, *names);
}

std::string BucketHint(const CommandSession& session) {
  const Result<std::vector<std::string>> names = ListBuckets(session);
  if (!names) return "";
  for (const std::string& url : session.arguments.positionals) {
    if (!url.starts_with("gs://")) continue;
    const std::string bucket = url.substr(5, url.find('/', 5) - 5);
    if (std::string hint = Hint(bucket, *names); !hint.empty()) return hint;
  }
  return "";
}

std::string RuntimeHint(const std::string& message, const Arguments& arguments,
                        const SettingSources& sources) {
  constexpr std::string_view kLead = "There is no runtime version [";
  const std::size_t start = message.find(kLead);
  if (start == std::string::npos) return "";
  const std::string word = message.substr(start + kLead.size());
  return Hint(word.substr(0, word.find(']')), RuntimeNames(arguments, sources));
}

}  // namespace

Result<std::vector<std::string>> JobNames(const CommandSession& session) {
  TY_TRY(const Json page,
         CallJson(session.client, {.path = JobsPath(session.project.value), .query = {{"pageSize", "100"}}}));
  std::vector<std::string> names;
  for (const Json& job : ListAt(page, "jobs")) names.push_back(TextAt(job, "jobId"));
  return names;
}

std::vector<std::string> RuntimeNames(const Arguments& arguments, const SettingSources& sources) {
  const std::filesystem::path data = arguments.Value("--data").value_or(DefaultDataDir(sources));
  const auto catalogue = environment::Catalogue::Load(data / "environments");
  std::vector<std::string> names;
  if (!catalogue) return names;
  for (const environment::RuntimeVersion& runtime : catalogue->versions()) names.push_back(runtime.version);
  return names;
}

Error WithNearestName(Error error, const CommandSpec& command, const CommandSession& session) {
  const bool names_job =
      command.positional == "JOB" && command.path != "jobs submit training";  // submit makes a new one
  if (error.code == Code::kNotFound && names_job)
    AddHint(error.message, JobHint(session));
  else if (error.code == Code::kNotFound && command.path.starts_with("storage "))
    AddHint(error.message, BucketHint(session));
  return WithNearestName(std::move(error), session.arguments, session.sources);
}

Error WithNearestName(Error error, const Arguments& arguments, const SettingSources& sources) {
  AddHint(error.message, RuntimeHint(error.message, arguments, sources));
  return error;
}

}  // namespace trainyard::cli
