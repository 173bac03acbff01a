#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <sstream>

#include "rules/diagnosis/classify.h"
#include "rules/diagnosis/rule.h"

namespace trainyard::diagnosis {
namespace {

TEST(Rules, AreDocumentedAndNothingElseIs) {
  std::ifstream file(TRAINYARD_FAILURES_DOC);
  std::stringstream text;
  text << file.rdbuf();
  std::set<std::string> documented;
  constexpr std::string_view kCell = "| `";
  const std::string doc = text.str();
  for (std::size_t at = doc.find(kCell); at != std::string::npos; at = doc.find(kCell, at + 1)) {
    const std::size_t name = at + kCell.size();
    documented.insert(doc.substr(name, doc.find('`', name) - name));
  }
  std::set<std::string> known;
  for (const Entry& entry : Entries()) {
    known.insert(std::string(entry.name));
    EXPECT_NE(doc.find("| `" + std::string(entry.name) + "` | " + std::string(entry.meaning) + " |"),
              std::string::npos)
        << "docs/failures.md lacks: | `" << entry.name << "` | " << entry.meaning << " |";
  }
  EXPECT_EQ(documented, known);
}

TEST(Rules, HaveSentences) {
  for (const auto& table : {KernelRules(), PreparationRules(), AcceleratorRules(), FrameworkRules(),
                            PythonRules(), SystemRules(), EndRules()}) {
    for (const Rule& rule : table) {
      EXPECT_TRUE(rule.summary.ends_with('.')) << rule.name;
      EXPECT_TRUE(rule.advice.ends_with('.')) << rule.name;
    }
  }
  for (const Entry& entry : Entries()) EXPECT_FALSE(entry.meaning.empty()) << entry.name;
}

}  // namespace
}  // namespace trainyard::diagnosis
