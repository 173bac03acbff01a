#include <algorithm>
#include <array>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <charconv>
#include <cmath>
#include <utility>

#include "base/number.h"
#include "base/wire/json_members.h"
#include "rules/kubernetes/pod_request.h"

namespace trainyard::kubernetes {

namespace {

namespace json = boost::json;
using wire::ListIn;
using wire::ObjectIn;
using wire::TextIn;

/// What a quantity's suffix multiplies it with; nullopt: there is no such suffix.
std::optional<double> FactorOf(std::string_view suffix) {
  constexpr std::array kFactors{
      std::pair("", 1.0),      std::pair("n", 1e-9),    std::pair("u", 1e-6),    std::pair("m", 1e-3),
      std::pair("k", 1e3),     std::pair("M", 1e6),     std::pair("G", 1e9),     std::pair("T", 1e12),
      std::pair("P", 1e15),    std::pair("E", 1e18),    std::pair("Ki", 0x1p10), std::pair("Mi", 0x1p20),
      std::pair("Gi", 0x1p30), std::pair("Ti", 0x1p40), std::pair("Pi", 0x1p50), std::pair("Ei", 0x1p60)};
  for (const auto& [name, factor] : kFactors)
    if (suffix == name) return factor;
  if (!suffix.starts_with('e') && !suffix.starts_with('E')) return std::nullopt;
  suffix.remove_prefix(suffix.starts_with("e+") || suffix.starts_with("E+") ? 2 : 1);
  const auto exponent = WholeNumber<int>(suffix);
  return exponent ? std::optional(std::pow(10.0, *exponent)) : std::nullopt;
}

std::int64_t Whole(double value) {
  constexpr auto kMax = static_cast<double>(std::int64_t{1} << 62);
  return static_cast<std::int64_t>(std::clamp(value, 0.0, kMax));
}

/// A member that is a quantity: in text, or a plain number.
double QuantityIn(const json::object& resources, std::string_view name) {
  const std::string text = TextIn(resources, name);
  if (text.empty()) return static_cast<double>(wire::NumberIn(resources, name));
  return ParseQuantity(text).value_or(0);
}

bool IsReady(const json::object& status) {
  return std::ranges::any_of(ListIn(status, "conditions"), [](const json::value& item) {
    const json::object* condition = item.if_object();
    return condition != nullptr && TextIn(*condition, "type") == "Ready" &&
           TextIn(*condition, "status") == "True";
  });
}

/// A taint keeps all pods of ours away, except that of a device: a pod that asks for the device tolerates it.
void ReadTaints(const json::array& taints, KubeNode& node) {
  for (const json::value& item : taints) {
    const json::object* taint = item.if_object();
    if (taint == nullptr || TextIn(*taint, "effect") == "PreferNoSchedule") continue;
    std::string key = TextIn(*taint, "key");
    if (node.devices.contains(key)) {
      node.reserved_for = std::move(key);
    } else {
      node.is_usable = false;
    }
  }
}

KubeNode NodeOf(const json::object& object) {
  const json::object& metadata = ObjectIn(object, "metadata");
  const json::object& spec = ObjectIn(object, "spec");
  const json::object& status = ObjectIn(object, "status");
  const json::object& allocatable = ObjectIn(status, "allocatable");
  KubeNode node{.name = TextIn(metadata, "name"),
                .cpus = QuantityIn(allocatable, "cpu"),
                .memory_bytes = Whole(QuantityIn(allocatable, "memory")),
                .is_usable = IsReady(status) && !wire::FlagIn(spec, "unschedulable")};
  for (const auto& [name, value] : allocatable) {
    const std::string_view resource(name.data(), name.size());
    if (!resource.contains('/')) continue;  // only names of extended resources have a domain
    const std::int64_t count = Whole(QuantityIn(allocatable, resource));
    if (count > 0) node.devices.emplace(resource, count);
  }
  for (const auto& [name, value] : ObjectIn(metadata, "labels"))
    if (const json::string* text = value.if_string())
      node.labels.emplace(std::string_view(name.data(), name.size()), std::string_view(*text));
  ReadTaints(ListIn(spec, "taints"), node);
  return node;
}

}  // namespace

std::optional<double> ParseQuantity(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  const bool is_number = !text.empty() && (text.front() == '-' || text.front() == '.' ||
                                           (text.front() >= '0' && text.front() <= '9'));
  if (!is_number) return std::nullopt;
  double number = 0;
  const auto [rest, error] =
      std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
  if (error != std::errc() || !std::isfinite(number)) return std::nullopt;
  const std::optional<double> factor =
      FactorOf(std::string_view(rest, static_cast<std::size_t>(text.data() + text.size() - rest)));
  if (!factor || !std::isfinite(number * *factor)) return std::nullopt;
  return number * *factor;
}

Result<std::vector<KubeNode>> ParseNodes(std::string_view json) {
  const std::optional<json::object> answer = wire::ParseJsonObject(json);
  const json::value* items = answer ? answer->if_contains("items") : nullptr;
  if (items == nullptr || !items->is_array())
    return std::unexpected(
        Error{Code::kDataLoss, "it is no list of nodes: " + std::string(json.substr(0, 200)), {}});
  std::vector<KubeNode> nodes;
  for (const json::value& item : items->get_array())
    if (const json::object* object = item.if_object()) nodes.push_back(NodeOf(*object));
  std::erase_if(nodes, [](const KubeNode& node) { return node.name.empty(); });
  return nodes;
}

}  // namespace trainyard::kubernetes
