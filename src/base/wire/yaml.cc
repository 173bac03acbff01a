#include "base/wire/yaml.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace trainyard::wire {
namespace {

using YAML::anchor_t;
using YAML::EmitterStyle;
using YAML::Mark;

YamlMistake At(const Mark& mark, std::string reason) {
  if (mark.is_null()) return {.reason = std::move(reason)};
  return {.line = mark.line + 1, .column = mark.column + 1, .reason = std::move(reason)};
}

Error AsError(const YamlMistake& mistake) {
  const std::string where = mistake.line == 0 ? std::string()
                                              : "line " + std::to_string(mistake.line) + ", column " +
                                                    std::to_string(mistake.column) + ": ";
  return InvalidArgument("", where + mistake.reason);
}

/// Measures the document's nodes before they are built. Only the first mistake is reported.
class Measure final : public YAML::EventHandler {
 public:
  [[nodiscard]] const std::optional<YamlMistake>& mistake() const { return mistake_; }
  /// The start of the last document.
  [[nodiscard]] const Mark& start() const { return start_; }
  [[nodiscard]] const std::optional<Mark>& first_alias() const { return first_alias_; }

  void OnDocumentStart(const Mark& mark) override { start_ = mark; }
  void OnDocumentEnd() override {}
  void OnNull(const Mark& mark, anchor_t anchor) override { Leaf(mark, anchor, 0); }
  void OnScalar(const Mark& mark, const std::string& /*tag*/, anchor_t anchor,
                const std::string& value) override {
    Leaf(mark, anchor, value.size());
  }
  void OnSequenceStart(const Mark& mark, const std::string& /*tag*/, anchor_t anchor,
                       EmitterStyle::value /*style*/) override {
    Begin(mark, anchor);
  }
  void OnSequenceEnd() override { End(); }
  void OnMapStart(const Mark& mark, const std::string& /*tag*/, anchor_t anchor,
                  EmitterStyle::value /*style*/) override {
    Begin(mark, anchor);
  }
  void OnMapEnd() override { End(); }

  void OnAlias(const Mark& mark, anchor_t anchor) override {
    if (!first_alias_) first_alias_ = mark;
    const auto known = anchors_.find(anchor);
    if (known == anchors_.end()) return Refuse(mark, "an alias stands within what it refers to");
    Add(mark, known->second.nodes, known->second.height);
  }

 private:
  /// The size of a node with everything below it.
  struct Tree {
    std::size_t nodes = 0;
    std::size_t height = 0;  ///< 0: a leaf
  };
  struct Open {
    anchor_t anchor = 0;
    Tree tree;
  };

  void Refuse(const Mark& mark, const std::string& reason) {
    if (!mistake_) mistake_ = At(mark, reason);
  }

  void Leaf(const Mark& mark, anchor_t anchor, std::size_t bytes) {
    if (bytes > kYamlScalarBytesMax) Refuse(mark, "a text has more than 1 MiB");
    if (anchor != 0) anchors_[anchor] = {.nodes = 1};
    Add(mark, 1, 0);
  }

  void Begin(const Mark& mark, anchor_t anchor) {
    Add(mark, 1, 0);
    open_.push_back({.anchor = anchor, .tree = {.nodes = 1, .height = 1}});
    CheckDepth(mark, open_.size());
  }

  void End() {
    const Open ended = open_.back();
    open_.pop_back();
    if (ended.anchor != 0) anchors_[ended.anchor] = ended.tree;
    if (open_.empty()) return;
    Tree& parent = open_.back().tree;
    parent.nodes += ended.tree.nodes - 1;  // the node itself was counted when it began
    parent.height = std::max(parent.height, ended.tree.height + 1);
  }

  void Add(const Mark& mark, std::size_t nodes, std::size_t height) {
    nodes_ = std::min(nodes_ + nodes, kYamlNodesMax + 1);
    if (nodes_ > kYamlNodesMax)
      Refuse(mark, "the document has more than " + std::to_string(kYamlNodesMax) +
                       " values, with aliases written out");
    CheckDepth(mark, open_.size() + height);
    if (open_.empty()) return;
    Tree& parent = open_.back().tree;
    parent.nodes = std::min(parent.nodes + nodes, kYamlNodesMax + 1);
    parent.height = std::max(parent.height, height + 1);
  }

  void CheckDepth(const Mark& mark, std::size_t depth) {
    if (depth > kYamlDepthMax)
      Refuse(mark, "lists and mappings are nested more than " + std::to_string(kYamlDepthMax) + " deep");
  }

  std::vector<Open> open_;
  std::map<anchor_t, Tree> anchors_;  ///< of nodes that have ended
  std::size_t nodes_ = 0;
  Mark start_;
  std::optional<Mark> first_alias_;
  std::optional<YamlMistake> mistake_;
};

/// Checks what `only` forbids after the document's limits.
std::optional<YamlMistake> Refusal(const std::string& document, bool only, Measure& measure) {
  std::istringstream input(document);
  YAML::Parser parser(input);
  parser.HandleNextDocument(measure);
  if (measure.mistake() || !only) return measure.mistake();
  if (measure.first_alias())
    return At(*measure.first_alias(), "aliases (*NAME) are not read here; write the value out");
  Measure next;
  if (parser.HandleNextDocument(next)) return At(next.start(), "a second document begins here");
  return std::nullopt;
}

std::expected<YAML::Node, YamlMistake> Load(std::string_view text, bool only) {
  if (text.size() > kYamlBytesMax)
    return std::unexpected(YamlMistake{.reason = "the document has more than 4 MiB"});
  const std::string document(text);
  Measure measure;
  try {  // yaml-cpp throws
    if (std::optional<YamlMistake> refusal = Refusal(document, only, measure))
      return std::unexpected(*std::move(refusal));
    return YAML::Load(document);
  } catch (const YAML::Exception& error) {
    // A mistake of ours comes before one of yaml-cpp's own limits.
    return std::unexpected(measure.mistake() ? *measure.mistake() : At(error.mark, error.msg));
  }
}

}  // namespace

Result<YAML::Node> LoadYaml(std::string_view text) {
  auto loaded = Load(text, false);
  if (!loaded) return std::unexpected(AsError(loaded.error()));
  return *std::move(loaded);
}

std::expected<YAML::Node, YamlMistake> LoadOnlyDocument(std::string_view text) { return Load(text, true); }

}  // namespace trainyard::wire
