#include "engine/kubernetes/kube_watch_reader.h"

#include <variant>

#include "base/ascii.h"
#include "base/overloaded.h"
#include "engine/kubernetes/kube_answers.h"

namespace trainyard::engine {

namespace {

std::unexpected<kubernetes::Refusal> Unreadable(const std::string& reason) {
  return std::unexpected(
      kubernetes::Refusal{.failure = kubernetes::Failure::kNoAnswer,
                          .words = "A watch of Kubernetes' API server cannot be read: " + reason + ".",
                          .unblock = "It is started again."});
}

}  // namespace

KubeAnswer<void> KubeWatchReader::TakeLine(std::string_view line) {
  if (TrimSpace(line).empty()) return {};
  Result<KubeWatchLine> read = ParseWatchLine(line);
  if (!read) return Unreadable(read.error().message);
  const auto move_to = [this](std::string& version) {
    if (!version.empty()) version_ = std::move(version);
  };
  return std::visit(Overloaded{[&](KubeBookmark& bookmark) -> KubeAnswer<void> {
                                 move_to(bookmark.version);
                                 return {};
                               },
                               [&](KubeChange& change) -> KubeAnswer<void> {
                                 on_event_(std::move(change.event));
                                 move_to(change.version);
                                 return {};
                               },
                               [](kubernetes::Refusal& refusal) -> KubeAnswer<void> {
                                 return std::unexpected(std::move(refusal));
                               }},
                    *read);
}

KubeAnswer<void> KubeWatchReader::Feed(std::string_view bytes) {
  while (true) {
    const std::size_t end = bytes.find('\n');
    if (end == std::string_view::npos) break;
    begun_.append(bytes.substr(0, end));
    bytes.remove_prefix(end + 1);
    if (begun_.size() > kLineBytesMax) return Unreadable("a line is too long");
    const std::string line = std::exchange(begun_, {});
    if (const KubeAnswer<void> taken = TakeLine(line); !taken) return taken;
  }
  begun_.append(bytes);
  if (begun_.size() > kLineBytesMax) return Unreadable("a line is too long");
  return {};
}

}  // namespace trainyard::engine
