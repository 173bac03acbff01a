#include "api/metadata/metadata_tree.h"

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>
#include <cctype>
#include <utility>
#include <vector>

namespace trainyard::api {

namespace {

namespace json = boost::json;

constexpr std::string_view kScope = "https://www.googleapis.com/auth/cloud-platform";
constexpr std::string_view kAttributes = "attributes";  ///< names in it are the user's, and are not changed

json::object Account(const std::string& email) {
  return {{"aliases", json::array{"default"}},
          {"email", email},
          {"scopes", json::array{kScope}},
          {"token", nullptr}};
}

/// On a TPU's own machine its driver reads these two.
json::object Attributes(const control::Instance& instance) {
  if (!instance.tpu) return {};
  return {{"accelerator-type", instance.tpu->accelerator_type}, {"agent-worker-number", "0"}};
}

/// Contains nothing invented: only data that the replica has, or that is always the same.
json::object InstanceTree(const MetadataFacts& facts) {
  const auto& [project, project_number, universe, instance, account] = facts;
  json::object tree{
      {"maintenance-event", "NONE"},
      {"preempted", "FALSE"},
      {"service-accounts", json::object{{"default", Account(account)}, {account, Account(account)}}}};
  if (!instance) return tree;
  const std::string number = "projects/" + std::to_string(project_number) + "/";
  tree["attributes"] = Attributes(*instance);
  tree["hostname"] = instance->name + "." + instance->zone + ".c." + instance->project + ".internal";
  tree["id"] = instance->id;
  tree["machine-type"] = number + "machineTypes/" + instance->machine_type;
  tree["name"] = instance->name;
  tree["network-interfaces"] =
      json::array{json::object{{"ip", instance->address}, {"network", number + "networks/default"}}};
  tree["zone"] = number + "zones/" + instance->zone;
  return tree;
}

bool IsDirectory(const json::value& value) {
  if (value.is_array()) return !value.as_array().empty() && value.as_array()[0].is_object();
  return value.is_object();
}

/// The entries of a directory, by name, in the order in which Google lists them.
std::vector<std::pair<std::string, const json::value*>> EntriesOf(const json::value& directory) {
  std::vector<std::pair<std::string, const json::value*>> entries;
  if (const json::object* object = directory.if_object()) {
    for (const auto& [name, value] : *object) entries.emplace_back(std::string(name), &value);
  } else {
    for (const json::value& value : directory.as_array())
      entries.emplace_back(std::to_string(entries.size()), &value);
  }
  std::ranges::sort(entries);
  return entries;
}

const json::value* Child(const json::value& directory, std::string_view name) {
  if (!IsDirectory(directory)) return nullptr;
  for (const auto& [entry, value] : EntriesOf(directory)) {
    if (entry == name) return value;
  }
  return nullptr;
}

std::string TextOf(const json::value& value) {
  if (const json::string* text = value.if_string()) return std::string(*text);
  if (!value.is_array()) return json::serialize(value);
  std::string lines;
  for (const json::value& element : value.as_array()) lines += TextOf(element) + "\n";
  return lines;
}

/// "service-accounts" in its JSON form: "serviceAccounts".
std::string CamelCase(std::string_view name) {
  std::string camel;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const bool starts_word = name[i] == '-' && i + 1 < name.size();
    camel += starts_word ? static_cast<char>(std::toupper(static_cast<unsigned char>(name[++i]))) : name[i];
  }
  return camel;
}

json::value Recursive(const json::value& value, bool is_users) {
  if (!IsDirectory(value)) return value;
  if (const json::array* array = value.if_array()) {
    json::array all;
    for (const json::value& element : *array) all.push_back(Recursive(element, false));
    return all;
  }
  json::object all;
  for (const auto& [name, child] : EntriesOf(value)) {
    if (!child->is_null()) all[is_users ? name : CamelCase(name)] = Recursive(*child, name == kAttributes);
  }
  return all;
}

/// "NAME VALUE" for everything below the directory.
std::string RecursiveText(const json::value& directory, const std::string& path) {
  std::string lines;
  for (const auto& [name, child] : EntriesOf(directory)) {
    if (child->is_null()) continue;
    if (IsDirectory(*child)) {
      lines += RecursiveText(*child, path + name + "/");
      continue;
    }
    std::string text = TextOf(*child);
    if (!text.ends_with('\n')) text += '\n';
    lines.append(path).append(name).append(" ").append(text);
  }
  return lines;
}

std::string Listing(const json::value& directory) {
  std::string lines;
  for (const auto& [name, child] : EntriesOf(directory)) lines += name + (IsDirectory(*child) ? "/\n" : "\n");
  return lines;
}

}  // namespace

json::object MetadataTree(const MetadataFacts& facts) {
  return {{"instance", InstanceTree(facts)},
          {"project", json::object{{"attributes", json::object()},
                                   {"numeric-project-id", facts.project_number},
                                   {"project-id", facts.project}}},
          {"universe", json::object{{"universe-domain", facts.universe_domain}}}};
}

std::optional<MetadataPage> ReadMetadata(const json::object& tree, std::string_view path,
                                         const MetadataQuery& query) {
  const json::value root = tree;
  const json::value* found = &root;
  const bool says_directory = path.empty() || path.ends_with('/');
  while (!path.empty()) {
    const std::size_t end = std::min(path.find('/'), path.size());
    found = Child(*found, path.substr(0, end));
    if (found == nullptr) return std::nullopt;
    path.remove_prefix(std::min(end + 1, path.size()));
  }
  const bool is_directory = IsDirectory(*found);
  if (found->is_null() || (says_directory && !is_directory)) return std::nullopt;
  const bool recursive = query.recursive && is_directory;
  MetadataPage page{.body = {},
                    .is_json = query.alt.empty() ? recursive : query.alt == "json",
                    .is_directory = is_directory};
  if (page.is_json)
    page.body = json::serialize(Recursive(*found, false));
  else if (recursive)
    page.body = RecursiveText(*found, "");
  else
    page.body = is_directory ? Listing(*found) : TextOf(*found);
  return page;
}

}  // namespace trainyard::api
