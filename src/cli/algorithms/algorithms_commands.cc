#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text/suggestion.h"
#include "base/wire/json_tree.h"
#include "cli/client_settings.h"
#include "cli/command_session.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "cli/gcloud/arguments.h"
#include "cli/gcloud/common_flags.h"
#include "cli/gcloud/json_value.h"
#include "cli/gcloud/output_format.h"
#include "cli/gcloud/table.h"
#include "rules/algorithms/algorithm.h"
#include "rules/algorithms/check_arguments.h"

namespace trainyard::cli {
namespace {

using algorithms::v1::Algorithm;

constexpr std::size_t kColumns = 110;

/// The table as its file has it.
Result<Json> Table(const Algorithm& algorithm) {
  const std::string name = "trainyard_algorithms/tables/" + algorithm.name() + ".json";
  for (const algorithms::PackageFile& file : algorithms::PackageFiles())
    if (file.name == name) return wire::ParseJsonTree(file.bytes);
  return std::unexpected(Internal(name + " is missing"));
}

std::vector<std::string> Images(const Algorithm& algorithm) {
  std::vector<std::string> images;
  for (const std::string& image : algorithm.images())
    images.push_back(std::string(algorithms::kImageFolder) + image);
  return images;
}

/// The text in lines of at most kColumns, each behind two spaces.
std::string Wrapped(std::string_view text) {
  std::string wrapped;
  std::size_t column = kColumns;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(text.size(), word.size() + 1));
    const bool fits = column + 1 + word.size() <= kColumns;
    wrapped += fits ? " " : wrapped.empty() ? "  " : "\n  ";
    wrapped += word;
    column = fits ? column + 1 + word.size() : 2 + word.size();
  }
  return wrapped + "\n";
}

std::string ArgumentTable(const Algorithm& algorithm) {
  std::string text;
  for (const auto& argument : algorithm.arguments()) {
    std::string name = "  --" + argument.name();
    for (const std::string& alias : argument.aliases()) name += ", --" + alias;
    const std::string fallback = algorithms::DefaultOf(argument);
    text += name +
            (argument.required() ? " (required)"
             : fallback.empty()  ? ""
                                 : " (default: " + fallback + ")") +
            "\n";
    std::string help = argument.help();
    if (argument.type() != "flag")
      help += (help.ends_with('.') ? " " : ". ") + ("Takes " + algorithms::Describe(argument) + ".");
    if (!argument.needs().empty()) help += " Only with --" + argument.needs() + ".";
    std::string lines = Wrapped(help);
    for (std::size_t at = 0; at < lines.size(); at = lines.find('\n', at) + 1) lines.insert(at, "    ");
    text += lines;
  }
  return text;
}

std::string Example(const Algorithm& algorithm) {
  std::string text = "  gcloud ai-platform jobs submit training first_" + algorithm.name() +
                     " --region=us-central1 \\\n    --master-image-uri=" + Images(algorithm).front() +
                     ":latest \\\n    --job-dir=gs://BUCKET/first_" + algorithm.name() + " \\\n";
  if (algorithm.workers() != "none")
    text +=
        "    --scale-tier=CUSTOM --master-machine-type=n1-standard-4 --worker-machine-type=n1-standard-4 "
        "--worker-count=1 \\\n";
  text += "    --";
  for (const std::string& argument : algorithm.example()) text += " \\\n    " + argument;
  return text + "\n";
}

std::string ForPeople(const Algorithm& algorithm) {
  std::string text = algorithm.name() + ": " + algorithm.summary() + "\n\nImages (any tag)\n";
  for (const std::string& image : Images(algorithm)) text += "  " + image + "\n";
  text += "\nData\n";
  for (const std::string& paragraph : algorithm.data()) text += Wrapped(paragraph);
  text += "\nArguments, as --NAME=VALUE or --NAME VALUE\n" + ArgumentTable(algorithm);
  text += "\nMetrics, for hyperparameterMetricTag\n";
  for (const auto& metric : algorithm.metrics())
    text += Wrapped(metric.tag() + " (" + metric.goal() + "): " + metric.meaning());
  return text + "\nA first job\n" + Example(algorithm);
}

std::string_view FirstSentence(std::string_view text) { return text.substr(0, text.find(". ")); }

/// `algorithms list`: name, images, what it is.
ExitStatus ListAlgorithms(const LocalSession& session) {
  TY_TRY(const OutputFormat format, session.Format());
  Rows rows{{"NAME", "IMAGES", "WHAT"}};
  std::vector<Json> resources;
  for (const Algorithm& algorithm : algorithms::Algorithms()) {
    TY_TRY(Json table, Table(algorithm));
    resources.push_back(std::move(table));
    std::string images;
    for (const std::string& image : algorithm.images()) images += (images.empty() ? "" : ",") + image;
    rows.push_back({algorithm.name(), images, std::string(FirstSentence(algorithm.summary()))});
  }
  session.PrintList(format, rows, resources);
  return 0;
}

/// `algorithms describe NAME`: for people arguments, data, metrics and a first job; with --format the table
/// as it is. NAME may be an image.
ExitStatus DescribeAlgorithm(const LocalSession& session) {
  TY_TRY(const OutputFormat format, session.Format());
  const std::string& name = session.arguments.positionals.front();
  const Algorithm* algorithm = algorithms::Find(name);
  if (algorithm == nullptr) algorithm = algorithms::ForImage(name);
  if (algorithm == nullptr) {
    std::vector<std::string_view> names;
    for (const Algorithm& known : algorithms::Algorithms()) names.push_back(known.name());
    const std::string_view nearest = text::Suggest(name, names);
    return std::unexpected(NotFound("There is no built-in algorithm [" + name + "]." +
                                    (nearest.empty() ? "" : " Did you mean '" + std::string(nearest) + "'?") +
                                    " To list them: trainyard algorithms list"));
  }
  if (format.kind == OutputFormat::Kind::kDefault) {
    session.console.Out(ForPeople(*algorithm));
    return 0;
  }
  TY_TRY(Json table, Table(*algorithm));
  session.console.Out(PrintResource(table, format));
  return 0;
}

const Command kAlgorithmsCommands[] = {
    {.spec = {.path = "algorithms describe",
              .summary = "Describe a built-in algorithm: its arguments, data and metrics, and a first job.",
              .positional = "NAME",
              .flags = kCommonFlags,
              .examples = "algorithms describe linear_learner\n"
                          "algorithms describe gcr.io/cloud-ml-algos/boosted_trees:latest"},
     .run = DescribeAlgorithm},
    {.spec = {.path = "algorithms list",
              .summary = "List the built-in algorithms, for which no trainer code is needed.",
              .flags = kCommonFlags,
              .examples = "algorithms list"},
     .run = ListAlgorithms},
};

}  // namespace

std::span<const Command> AlgorithmsCommands() { return kAlgorithmsCommands; }

}  // namespace trainyard::cli
