#include "rules/diagnosis/module_names.h"

#include <algorithm>
#include <array>
#include <cstddef>

namespace trainyard::diagnosis {
namespace {

/// No name that is near to one that people give to modules of their own, such as "datasets" or "networkx".
constexpr std::array<std::string_view, 68> kWellKnown = {"absl",
                                                         "accelerate",
                                                         "albumentations",
                                                         "argparse",
                                                         "bokeh",
                                                         "catboost",
                                                         "collections",
                                                         "concurrent.futures",
                                                         "contextlib",
                                                         "dataclasses",
                                                         "datetime",
                                                         "diffusers",
                                                         "einops",
                                                         "fastai",
                                                         "functools",
                                                         "gensim",
                                                         "gymnasium",
                                                         "h5py",
                                                         "huggingface_hub",
                                                         "imageio",
                                                         "importlib",
                                                         "itertools",
                                                         "joblib",
                                                         "json",
                                                         "keras",
                                                         "librosa",
                                                         "lightgbm",
                                                         "lightning",
                                                         "logging",
                                                         "math",
                                                         "matplotlib",
                                                         "matplotlib.pyplot",
                                                         "mlflow",
                                                         "multiprocessing",
                                                         "nltk",
                                                         "numba",
                                                         "numpy",
                                                         "onnxruntime",
                                                         "optuna",
                                                         "pandas",
                                                         "pathlib",
                                                         "pickle",
                                                         "plotly",
                                                         "polars",
                                                         "pyarrow",
                                                         "pytorch_lightning",
                                                         "requests",
                                                         "safetensors",
                                                         "scipy",
                                                         "seaborn",
                                                         "sentencepiece",
                                                         "sklearn",
                                                         "sklearn.ensemble",
                                                         "sklearn.linear_model",
                                                         "sklearn.metrics",
                                                         "sklearn.model_selection",
                                                         "sklearn.preprocessing",
                                                         "spacy",
                                                         "statsmodels",
                                                         "subprocess",
                                                         "tensorflow",
                                                         "tokenizers",
                                                         "torch",
                                                         "torchaudio",
                                                         "torchvision",
                                                         "tqdm",
                                                         "transformers",
                                                         "xgboost"};

constexpr std::size_t kLengthMax = 32;  ///< a longer name is no misspelling of one of these

/// How many letters are wrong, missing, added or exchanged with their neighbour (optimal string alignment).
std::size_t Distance(std::string_view a, std::string_view b) {
  std::array<std::array<std::size_t, kLengthMax + 1>, kLengthMax + 1> cost{};
  for (std::size_t i = 0; i <= a.size(); ++i) cost[i][0] = i;
  for (std::size_t j = 0; j <= b.size(); ++j) cost[0][j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = cost[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      cost[i][j] = std::min({cost[i - 1][j] + 1, cost[i][j - 1] + 1, replaced});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        cost[i][j] = std::min(cost[i][j], cost[i - 2][j - 2] + 1);
    }
  }
  return cost[a.size()][b.size()];
}

}  // namespace

std::string_view MeantModule(std::string_view name) {
  constexpr std::size_t kShort = 5;
  if (name.size() > kLengthMax || std::ranges::find(kWellKnown, name) != kWellKnown.end()) return {};
  std::size_t best = 3;
  std::string_view meant;
  for (const std::string_view known : kWellKnown) {
    const std::size_t distance = Distance(name, known);
    const std::size_t allowed = std::min(name.size(), known.size()) > kShort ? 2 : 1;
    if (distance > allowed || distance >= best) continue;
    best = distance;
    meant = known;
  }
  return meant;
}

}  // namespace trainyard::diagnosis
