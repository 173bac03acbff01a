#include "rules/retention/disk_marks.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <string_view>

namespace trainyard::retention {

namespace {

constexpr std::int64_t kMoreForUp =
    16;  ///< the level rises when free space is this part of the mark above the mark

/// Whether the free space is below the mark; after it was below, whether it is below the mark plus a
/// sixteenth.
bool IsBelow(std::int64_t free, std::int64_t mark, bool was_below) {
  return free < (was_below ? mark + mark / kMoreForUp : mark);
}

bool HasTooFewInodes(const DiskReading& reading) {
  return reading.free_inodes >= 0 && reading.free_inodes < kFreeInodesMin;
}

std::string FreeText(const DiskReading& reading, std::int64_t mark) {
  if (reading.free_bytes >= mark && HasTooFewInodes(reading))
    return "the disk of " + reading.folder + " has room for " + std::to_string(reading.free_inodes) +
           " more files, less than " + std::to_string(kFreeInodesMin);
  return "the disk of " + reading.folder + " has " + SpaceText(reading.free_bytes) + " free, less than " +
         SpaceText(mark);
}

constexpr std::string_view kRepair =
    "The kernel's messages (dmesg) give the reason: the machine's administrator repairs, remounts or "
    "replaces "
    "the disk.";

std::string TroubleText(const DiskReading& reading) {
  return "the disk of " + reading.folder + " " + reading.trouble;
}

}  // namespace

DiskLevel LevelOf(const DiskReading& reading, const DiskMarks& marks, DiskLevel before) {
  if (!reading.trouble.empty()) return DiskLevel::kFull;
  if (marks.refuse_below > 0 && (HasTooFewInodes(reading) ||
                                 IsBelow(reading.free_bytes, marks.refuse_below, before == DiskLevel::kFull)))
    return DiskLevel::kFull;
  if (marks.queue_below > 0 && (HasTooFewInodes(reading) ||
                                IsBelow(reading.free_bytes, marks.queue_below, before != DiskLevel::kEnough)))
    return DiskLevel::kLow;
  return DiskLevel::kEnough;
}

std::string WhyJobsWait(const DiskReading& reading, const DiskMarks& marks) {
  if (!reading.trouble.empty()) return "No job begins: " + TroubleText(reading) + ".";
  const std::int64_t mark = std::max(marks.queue_below, marks.refuse_below);
  return "No job begins while the disk is nearly full: " + FreeText(reading, mark) + ".";
}

std::string WhatEndsTheWait(const DiskReading& reading, const DiskMarks& marks) {
  if (!reading.trouble.empty())
    return "It goes on when the disk can be written again. " + std::string(kRepair);
  const std::int64_t mark = std::max(marks.queue_below, marks.refuse_below);
  return "It goes on when " + SpaceText(mark + mark / kMoreForUp) +
         " are free: objects, environments, images and old jobs can be removed (docs/operators.md, Disk).";
}

Status CheckSpace(const DiskReading& reading, const DiskMarks& marks, DiskLevel level) {
  if (level != DiskLevel::kFull) return {};
  if (!reading.trouble.empty())
    return std::unexpected(
        Unavailable("Nothing can be stored: " + TroubleText(reading) + ". " + std::string(kRepair)));
  return std::unexpected(ResourceExhausted(
      "Nothing more can be stored: " + FreeText(reading, marks.refuse_below) +
      " (trainyard serve --refuse-below-free). Remove objects, environments, images or old jobs, "
      "then try again."));
}

std::string SpaceText(std::int64_t bytes) {
  constexpr std::array<std::string_view, 5> kUnits{"bytes", "KiB", "MiB", "GiB", "TiB"};
  constexpr double kStep = 1024;
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (; value >= kStep && unit + 1 < kUnits.size(); ++unit) value /= kStep;
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), unit == 0 ? "%.0f" : "%.1f", value);
  return std::string(text.data()) + " " + std::string(kUnits[unit]);
}

}  // namespace trainyard::retention
