#include "rules/measurement/summaries.h"

#include <algorithm>
#include <array>
#include <tuple>
#include <utility>
#include <vector>

#include "rules/measurement/report.h"

namespace trainyard::measurement {

namespace {

constexpr std::size_t kBufferBytes = 256 << 10;

/// TensorFlow makes names unique that way: "accuracy_1".
bool HasSuffix(std::string_view tag, std::string_view base) {
  if (!tag.starts_with(base)) return false;
  tag.remove_prefix(base.size());
  return tag.size() > 1 && tag.front() == '_' && tag.find_first_not_of("0123456789", 1) == tag.npos;
}

enum class Rank { kEvaluation, kRoot, kOther, kTraining };

/// Keras writes to train and validation, Estimators to the root, eval and eval_NAME.
Rank RankOf(std::string_view folder) {
  if (folder.empty()) return Rank::kRoot;
  Rank rank = Rank::kOther;
  while (!folder.empty()) {
    const std::size_t end = std::min(folder.find('/'), folder.size());
    const std::string_view name = folder.substr(0, end);
    if (name == "validation" || name == "eval" || name.starts_with("eval_")) return Rank::kEvaluation;
    if (name == "train") rank = Rank::kTraining;
    folder.remove_prefix(std::min(end + 1, folder.size()));
  }
  return rank;
}

std::string_view FolderOf(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? std::string_view() : path.substr(0, slash);
}

}  // namespace

bool IsEventFile(std::string_view name) noexcept { return name.contains(".tfevents."); }

bool Summaries::Read(std::string_view root, std::string_view path, FileVersion now, std::uint64_t bytes_max,
                     const ReadAt& read_at) {
  const std::string name = std::string(root) + "/" + std::string(path);
  if (!files_.contains(name) && files_.size() >= kEventFilesMax) return false;
  const auto [found, is_new] = files_.try_emplace(name);
  File& file = found->second;
  const bool replaced = now.id != file.begun_id;
  if (is_new || now.size < file.reader.offset() || (file.reader.lost() && replaced)) {
    file = {.reader = {}, .begun_id = now.id};
  }
  const std::string_view folder = FolderOf(path);
  const auto take = [&](std::string_view record) {
    for (const Scalar& scalar : ScalarsOf(record)) Take(root, folder, scalar);
  };
  std::vector<char> buffer(std::min<std::uint64_t>(kBufferBytes, now.size - file.reader.offset()));
  std::uint64_t done = 0;
  while (file.reader.offset() < now.size && done < bytes_max && !file.reader.lost()) {
    const std::uint64_t wanted = std::min<std::uint64_t>(now.size - file.reader.offset(), buffer.size());
    const std::size_t got = read_at(file.reader.offset(), std::span(buffer).first(wanted));
    if (got == 0) return false;
    file.reader.Feed({buffer.data(), got}, take);
    done += got;
  }
  return file.reader.offset() < now.size && !file.reader.lost();
}

Summaries::Summaries(const std::vector<std::string>& tags) {
  for (const std::string& tag : tags) wanted_.push_back({.tag = tag, .curves = {}});
}

/// A tag that is wanted itself is not another one's with a suffix.
void Summaries::Take(std::string_view root, std::string_view folder, const Scalar& scalar) {
  const auto place = [&] {
    return Place{.root = std::string(root), .folder = std::string(folder), .tag = scalar.tag};
  };
  const auto exact = std::ranges::find(wanted_, scalar.tag, &Wanted::tag);
  if (exact != wanted_.end()) return Add(place(), scalar, *exact);
  bool is_other = true;
  for (Wanted& wanted : wanted_) {
    if (!HasSuffix(scalar.tag, wanted.tag)) continue;
    Add(place(), scalar, wanted);
    is_other = false;
  }
  if (is_other) NoteTag(seen_tags_, scalar.tag);
}

void Summaries::Add(Place place, const Scalar& scalar, Wanted& wanted) {
  if (!wanted.curves.contains(place) && wanted.curves.size() >= kCurvesMax) return;
  wanted.curves[std::move(place)].Add(scalar.step, scalar.time_s, scalar.value);
}

const std::string* Summaries::ChosenTag(const Wanted& wanted) {
  const std::string* chosen = nullptr;
  for (const auto& [place, curve] : wanted.curves) {
    if (place.tag == wanted.tag) return &place.tag;
  }
  for (const auto& [place, curve] : wanted.curves) {
    if (chosen != nullptr && *chosen != place.tag) return nullptr;  // ambiguous
    chosen = &place.tag;
  }
  return chosen;
}

const Summaries::Curves::value_type* Summaries::Chosen(const Wanted& wanted) {
  const std::string* tag = ChosenTag(wanted);
  if (tag == nullptr) return nullptr;
  const auto order = [](const auto& entry) {
    return std::tuple(RankOf(entry.first.folder), -entry.second.newest_s());
  };
  const Curves::value_type* best = nullptr;
  for (const auto& entry : wanted.curves) {
    if (entry.first.tag == *tag && (best == nullptr || order(entry) < order(*best))) best = &entry;
  }
  return best;
}

replica::v1::MetricReport Summaries::Report() const {
  replica::v1::MetricReport report;
  std::set<std::string> seen = seen_tags_;
  for (const Wanted& wanted : wanted_) {
    const auto* chosen = Chosen(wanted);
    if (chosen == nullptr) {
      for (const auto& [place, curve] : wanted.curves) NoteTag(seen, place.tag);
    } else if (&wanted == wanted_.data()) {
      chosen->second.Print(report);
      report.set_place(chosen->first.Shown());
    } else {
      chosen->second.PrintFurther(wanted.tag, report);
    }
  }
  for (const std::string& tag : seen) report.add_seen_tags(tag);
  return report;
}

std::vector<RenamedTag> Summaries::RenamedTags() const {
  std::vector<RenamedTag> renamed;
  for (const Wanted& wanted : wanted_) {
    const auto* chosen = Chosen(wanted);
    if (chosen == nullptr || chosen->first.tag == wanted.tag) continue;
    renamed.push_back({.tag = wanted.tag, .spelling = chosen->first.tag, .place = chosen->first.Shown()});
  }
  return renamed;
}

}  // namespace trainyard::measurement
