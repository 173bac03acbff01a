#include "rules/iam/method_table.h"

#include <algorithm>
#include <vector>

#include "rules/iam/method_rows.h"

namespace trainyard::iam {
namespace {

std::vector<MethodRule> SortedRows() {
  std::vector<MethodRule> rules;
  for (const auto rows : {MlRows(), StorageRows(), IdentityRows(), OwnRows()})
    rules.insert(rules.end(), rows.begin(), rows.end());
  std::ranges::sort(rules, {}, &MethodRule::route);
  return rules;
}

}  // namespace

std::span<const MethodRule> MethodTable() {
  static const std::vector<MethodRule> kTable = SortedRows();
  return kTable;
}

const MethodRule* FindMethod(std::string_view route) {
  const std::span<const MethodRule> rules = MethodTable();
  const auto found = std::ranges::lower_bound(rules, route, {}, &MethodRule::route);
  return found != rules.end() && found->route == route ? &*found : nullptr;
}

}  // namespace trainyard::iam
