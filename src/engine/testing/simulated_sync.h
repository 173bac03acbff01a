#pragma once

#include <random>
#include <string>

/// For simulations: a program that links this file has its own fsync() and fdatasync(), which note what a
/// power cut must leave and take no time. One thread.
namespace trainyard::engine {

/// The machine loses its power: of each file in the folder, a part that was not synced is lost; of each name
/// in it that was not synced, perhaps the file.
void LoseUnsynced(const std::string& folder, std::mt19937_64& random);

/// Call it before the folder is removed: the numbers of its files may be used again.
void ForgetSyncs(const std::string& folder);

}  // namespace trainyard::engine
