#include "rules/validation/testing/compatibility.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "rules/validation/validate.h"
#include "trainyard/ml/v1/ml.pb.h"

namespace trainyard::jobs {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;

/// "HyperparameterMetric" for the nested type that the API calls HyperparameterOutput_HyperparameterMetric.
std::string ShortName(const Descriptor& type) {
  return std::string(type.name().substr(type.name().rfind('_') + 1));
}

/// The fields of the message and of all messages of the API below it, as the API names them.
void Walk(const Descriptor& type, std::set<std::string>& fields) {
  for (int i = 0; i < type.field_count(); ++i) {
    const FieldDescriptor& field = *type.field(i);
    const std::string name = ShortName(type) + "." + std::string(field.json_name());
    if (!fields.insert(name).second || name.starts_with("Job.prediction")) continue;
    const Descriptor* below = field.message_type();
    if (below != nullptr && below->file() == type.file() && !field.is_map()) Walk(*below, fields);
  }
}

TEST(CompatibilityTable, HasARowForEveryFieldAndNoOther) {
  std::set<std::string> fields;
  Walk(*ml::v1::Job::descriptor(), fields);
  EXPECT_GT(fields.size(), 80U);
  std::set<std::string> rows;
  for (const FieldRow& row : CompatibilityTable()) {
    EXPECT_TRUE(rows.insert(std::string(row.field)).second) << row.field << " has two rows";
    EXPECT_TRUE(fields.contains(std::string(row.field))) << row.field << " is no field of the API";
    EXPECT_FALSE(row.meaning.empty() || row.source.empty()) << row.field;
    EXPECT_EQ(row.meaning.find('|'), std::string_view::npos) << row.field;
  }
  for (const std::string& field : fields) EXPECT_TRUE(rows.contains(field)) << field << " has no row";
}

TEST(CompatibilityTable, NamesRulesThatExistAndLeavesNoneOut) {
  std::map<std::string, int, std::less<>> uses;
  for (const ValidationRule& rule : ValidationRules()) {
    uses[std::string(rule.name)] = 0;
    EXPECT_FALSE(rule.refuses.empty()) << rule.name;
  }
  for (const FieldRow& row : CompatibilityTable()) {
    std::istringstream names{std::string(row.rules)};
    for (std::string name; names >> name;) {
      ASSERT_TRUE(uses.contains(name)) << row.field << " names the rule " << name;
      ++uses[name];
    }
    if (row.treatment == FieldTreatment::kRefused)
      EXPECT_FALSE(row.rules.empty()) << row.field << ": who refuses it?";
  }
  for (const auto& [name, count] : uses) EXPECT_GT(count, 0) << "no field names the rule " << name;
}

TEST(CompatibilityPage, IsTheFileInDocs) {
  const std::string page = CompatibilityPage();
  if (std::getenv("TRAINYARD_UPDATE_DOCS") != nullptr) std::ofstream(TRAINYARD_COMPATIBILITY_DOC) << page;
  std::ifstream file(TRAINYARD_COMPATIBILITY_DOC);
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  EXPECT_EQ(text, page)
      << "run TRAINYARD_UPDATE_DOCS=1 ctest --preset dev -R '^validation$' and look at the diff";
}

}  // namespace
}  // namespace trainyard::jobs
