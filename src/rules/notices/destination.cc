#include "rules/notices/destination.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <ranges>
#include <utility>

namespace trainyard::notices {

namespace {

constexpr std::array kEvents{std::pair{Event::kSucceeded, std::string_view("succeeded")},
                             std::pair{Event::kFailed, std::string_view("failed")},
                             std::pair{Event::kCancelled, std::string_view("cancelled")},
                             std::pair{Event::kWaiting, std::string_view("waiting")}};

std::vector<std::string> Split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (const auto part : std::views::split(text, separator))
    if (!part.empty()) parts.emplace_back(part.begin(), part.end());
  return parts;
}

bool IsVisible(std::string_view text) {
  return !text.empty() &&
         std::ranges::all_of(text, [](unsigned char byte) { return byte > 32 && byte < 127; });
}

/// The name is the value of a label.
bool IsName(std::string_view text) {
  return !text.empty() && text.size() <= 63 && std::ranges::all_of(text, [](unsigned char letter) {
    return std::islower(letter) != 0 || std::isdigit(letter) != 0 || letter == '-' || letter == '_';
  });
}

std::unexpected<Error> Refuse(std::string why) {
  return std::unexpected(InvalidArgument("", std::move(why)));
}

Status ReadUrl(const std::string& url, Destination& destination) {
  constexpr std::string_view kMailto = "mailto:";
  if (!IsVisible(url)) return Refuse("'" + url + "' has a character that no URL may have");
  if (url.starts_with(kMailto)) {
    destination.kind = Destination::Kind::kMail;
    destination.target = url.substr(kMailto.size());
    const std::size_t at = destination.target.find('@');
    const bool is_address = at != std::string::npos && at > 0 && at + 1 < destination.target.size() &&
                            destination.target.find_first_of("<>,;?\"\\@", at + 1) == std::string::npos &&
                            destination.target.find_first_of("<>,;?\"\\") == std::string::npos;
    if (!is_address) return Refuse("'" + url + "' is not mailto:NAME@DOMAIN with one address");
    return {};
  }
  if (!url.starts_with("https://") && !url.starts_with("http://"))
    return Refuse("'" + url + "' does not begin with https://, http:// or mailto:");
  const std::size_t host = url.find("//") + 2;
  const std::size_t end = std::min(url.find_first_of("/?#", host), url.size());
  destination.server = url.substr(0, end);
  destination.target = url.substr(end, url.find('#', end) - end);
  if (!destination.target.starts_with('/')) destination.target.insert(0, "/");
  if (end == host) return Refuse("'" + url + "' names no host");
  if (destination.server.contains('@'))
    return Refuse("a user name or password in the URL is not supported: requests are signed instead");
  return {};
}

Status ReadEvents(const std::vector<std::string>& names, Destination& destination) {
  destination.events.clear();
  for (const std::string& name : names) {
    const auto* found = std::ranges::find(kEvents, name, [](const auto& row) { return row.second; });
    if (found == kEvents.end())
      return Refuse("unknown event '" + name + "': use succeeded, failed, cancelled or waiting");
    destination.events.insert(found->first);
  }
  if (destination.events.empty()) return Refuse("events= names no event");
  return {};
}

Status ReadWord(const std::string& word, Destination& destination) {
  const std::size_t equals = word.find('=');
  const std::string key = word.substr(0, equals);
  const std::string value = equals == std::string::npos ? "" : word.substr(equals + 1);
  if (key == "events") return ReadEvents(Split(value, ','), destination);
  if (key == "projects") {
    for (std::string& project : Split(value, ',')) destination.projects.insert(std::move(project));
    if (destination.projects.empty()) return Refuse("projects= names no project; leave it out for all");
    return {};
  }
  if (key == "jobs" && (value == "all" || value == "named")) {
    destination.named_only = value == "named";
    return {};
  }
  return Refuse("'" + word + "' is not projects=P,..., events=E,... or jobs=all|named");
}

bool Serves(const Destination& destination, const std::string& project) {
  return destination.projects.empty() || destination.projects.contains(project);
}

/// Empty: the job names none.
std::string NamedBy(const ml::v1::Job& job) {
  const auto label = job.labels().find(std::string(kLabel));
  return label == job.labels().end() ? "" : label->second;
}

}  // namespace

std::string_view EventName(Event event) {
  return std::ranges::find(kEvents, event, [](const auto& row) { return row.first; })->second;
}

Result<Destination> ParseDestination(const std::string& text) {
  const std::vector<std::string> words = Split(text, ' ');
  const std::size_t equals = words.empty() ? std::string::npos : words[0].find('=');
  if (equals == std::string::npos) return Refuse("'" + text + "' does not begin with NAME=URL");
  Destination destination{.name = words[0].substr(0, equals)};
  if (!IsName(destination.name))
    return Refuse("'" + destination.name +
                  "' is no name of a destination: use at most 63 lower-case letters, digits, - and _");
  TY_RETURN_IF_ERROR(ReadUrl(words[0].substr(equals + 1), destination));
  for (const std::string& word : words | std::views::drop(1)) TY_RETURN_IF_ERROR(ReadWord(word, destination));
  return destination;
}

Status AddDestination(const std::string& text, std::vector<Destination>& list) {
  TY_TRY(Destination destination, ParseDestination(text));
  if (std::ranges::find(list, destination.name, &Destination::name) != list.end())
    return Refuse("there are two destinations of the name '" + destination.name + "'");
  list.push_back(std::move(destination));
  return {};
}

bool IsWanted(const Destination& destination, const control::v1::JobRecord& job, Event event) {
  if (!destination.events.contains(event) || !Serves(destination, job.project())) return false;
  return !destination.named_only || NamedBy(job.job()) == destination.name;
}

Status CheckLabel(const std::vector<Destination>& list, const std::string& project, const ml::v1::Job& job) {
  const std::string name = NamedBy(job);
  if (name.empty()) return {};
  std::string known;
  for (const Destination& destination : list) {
    if (!Serves(destination, project)) continue;
    if (destination.name == name) return {};
    known += (known.empty() ? "" : ", ") + destination.name;
  }
  return std::unexpected(
      InvalidArgument("job.labels", "The label " + std::string(kLabel) + " names '" + name +
                                        "', to which this server sends no notices of this project's jobs. " +
                                        (known.empty() ? "Its operator adds destinations with --notify."
                                                       : "Destinations of the project: " + known + ".")));
}

Status CheckNewLabel(const std::vector<Destination>& list, const std::string& project,
                     const ml::v1::Job& before, const ml::v1::Job& after) {
  if (NamedBy(before) == NamedBy(after)) return {};
  return CheckLabel(list, project, after);
}

}  // namespace trainyard::notices
