#include "tuning/problems/table.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"

namespace trainyard::bench {
namespace {

using tuning::Parameter;
using tuning::Point;
using tuning::Space;
using Type = Parameter::Type;

struct Table {
  Space space;
  std::vector<std::vector<double>> regrets;  // by repetition
};

std::string PathOf(int function) {
  const char* folder = std::getenv("TUNING_TABLES");
  return folder == nullptr ? "" : folder + ("/" + std::to_string(function)) + ".txt";
}

std::size_t Choices(const Parameter& parameter) {
  return parameter.type == Type::kDiscrete ? parameter.discrete.size() : parameter.categories.size();
}

Parameter ReadParameter(const std::string& text) {
  std::istringstream words(text);
  std::string kind;
  words >> kind >> std::ws;
  Parameter parameter{.type = kind == "discrete" ? Type::kDiscrete : Type::kCategorical};
  for (std::string value; std::getline(words, value, ',');) {
    if (parameter.type == Type::kDiscrete) parameter.discrete.push_back(std::stod(value));
    parameter.categories.push_back(value);
  }
  if (parameter.type == Type::kDiscrete) parameter.categories.clear();
  return parameter;
}

std::vector<double> RegretsOf(std::vector<double> losses) {
  std::vector<double> sorted = losses;
  std::ranges::sort(sorted);
  const double unit = sorted[sorted.size() / 2] - sorted.front();
  for (double& loss : losses) loss = (loss - sorted.front()) / unit;
  return losses;
}

Table ReadTable(int function) {
  std::ifstream file(PathOf(function));
  Table table;
  std::string line;
  std::getline(file, line);
  std::istringstream parameters(line);
  std::size_t combinations = 1;
  for (std::string text; std::getline(parameters, text, ';');) {
    table.space.parameters.push_back(ReadParameter(text));
    table.space.parameters.back().name = "x" + std::to_string(table.space.parameters.size());
    combinations *= Choices(table.space.parameters.back());
  }
  while (std::getline(file, line)) {
    std::istringstream numbers(line);
    std::vector<double> losses;
    for (double loss = 0; numbers >> loss;) losses.push_back(loss);
    TY_CHECK(losses.size() == combinations);
    table.regrets.push_back(RegretsOf(std::move(losses)));
  }
  TY_CHECK(!table.regrets.empty());
  return table;
}

class TableProblem final : public Problem {
 public:
  TableProblem(const Table& table, std::uint64_t instance)
      : table_(table), regrets_(table.regrets[(instance - 1) % table.regrets.size()]) {}
  const Space& space() const override { return table_.space; }
  double Regret(const Point& point) const override {
    std::size_t row = 0;
    for (std::size_t i = 0; i < point.size(); ++i)
      row = row * Choices(table_.space.parameters[i]) + static_cast<std::size_t>(point[i]);
    return regrets_.at(row);
  }

 private:
  const Table& table_;
  const std::vector<double>& regrets_;
};

}  // namespace

bool HasTable(int function) { return std::ifstream(PathOf(function)).good(); }

std::unique_ptr<Problem> MakeTableProblem(int function, std::uint64_t instance) {
  static std::map<int, Table> tables;  // thousands of values are asked for, one by one
  if (!tables.contains(function)) tables.emplace(function, ReadTable(function));
  return std::make_unique<TableProblem>(tables.at(function), instance);
}

}  // namespace trainyard::bench
