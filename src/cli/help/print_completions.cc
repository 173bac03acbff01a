#include <unistd.h>
#include <csignal>

#include <chrono>
#include <utility>

#include "cli/help/completion.h"
#include "cli/nearest_name.h"
#include "cli/storage/storage_objects.h"

namespace trainyard::cli {
namespace {

using Names = Completion::Names;

/// A user who pressed the tab key waits for at most this.
constexpr std::chrono::seconds kServerDeadline{1};

void EndQuietly(int /*signal*/) { _exit(0); }

/// Ends this process after the deadline. What is not known by then is not offered; nothing was printed yet.
void LimitTime() {
  struct sigaction action{};
  action.sa_handler = EndQuietly;
  sigaction(SIGALRM, &action, nullptr);
  alarm(static_cast<unsigned>(kServerDeadline.count()));
}

/// "gs://buc" -> buckets; "gs://bucket/fol" -> folders and objects one level below.
std::vector<std::string> UrlsAt(const CommandSession& session, const std::string& begun) {
  constexpr std::string_view kScheme = "gs://";
  std::vector<std::string> urls;
  if (begun.size() < kScheme.size() || begun.find('/', kScheme.size()) == std::string::npos) {
    if (const auto buckets = ListBuckets(session))
      for (const std::string& bucket : *buckets) urls.push_back(std::string(kScheme) + bucket + "/");
    return urls;
  }
  const auto uri = ParseStorageUrl(begun);
  if (!uri) return urls;
  const auto listing = ListObjects(session, uri->bucket, uri->object, true);
  if (!listing) return urls;
  const std::string root = std::string(kScheme) + uri->bucket + "/";
  for (const std::string& folder : listing->folders) urls.push_back(root + folder);
  for (const Json& object : listing->objects) urls.push_back(root + TextAt(object, "name"));
  return urls;
}

std::vector<std::string> FetchNames(const Completion& completion, const SettingSources& sources,
                                    const Console& console) {
  if (completion.names == Names::kRuntimes) return RuntimeNames(completion.arguments, sources);
  LimitTime();
  const Result<OpenedSession> opened = OpenSession({completion.arguments, sources, console}, "trainyard");
  if (!opened) return {};
  if (completion.names == Names::kObjects) return UrlsAt(opened->session, completion.begun);
  return JobNames(opened->session).value_or(std::vector<std::string>());
}

}  // namespace

int PrintCompletions(const std::vector<std::string>& words,
                     const std::vector<configuration::Key>& serve_flags, const SettingSources& sources,
                     const Console& console) {
  Completion completion = Complete(words, serve_flags);
  std::string out;
  if (completion.names == Names::kFiles) out += ":file\n";
  if (completion.names == Names::kDirectories) out += ":directory\n";
  if (completion.names == Names::kJobs || completion.names == Names::kRuntimes ||
      completion.names == Names::kObjects) {
    for (const std::string& name : FetchNames(completion, sources, console))
      if (name.starts_with(completion.begun)) completion.candidates.push_back({completion.ahead + name, ""});
  }
  for (const Completion::Candidate& candidate : completion.candidates) {
    if (completion.candidates.size() == 1 && (candidate.word.ends_with('/') || candidate.word.ends_with('(')))
      out += ":nospace\n";
    out += candidate.word + (candidate.help.empty() ? "" : "\t" + candidate.help) + "\n";
  }
  console.Out(out);
  return 0;
}

}  // namespace trainyard::cli
