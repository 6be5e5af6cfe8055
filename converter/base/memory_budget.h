// MemoryBudget: a limit on the memory that an untrusted source may use, proportional to its size.
#ifndef BANTAM_CONVERTER_BASE_MEMORY_BUDGET_H_
#define BANTAM_CONVERTER_BASE_MEMORY_BUDGET_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace bantam::convert {

/// Some formats repeat and expand: a function may be called a thousand times, one byte may represent a row of numbers,
/// one number in a configuration may stand for many layers. Importers count such memory here, together with that of
/// parsing, before they allocate it: at most kTimes the bytes of the source plus kFree. The passes after the importers
/// take as much again, so that a conversion stays below eight times its source plus 64 MB (SECURITY.md).
class MemoryBudget {
 public:
  static constexpr uint64_t kTimes = 4, kFree = uint64_t{24} << 20;

  /// `name` names the source in messages; `bytes` is its size.
  MemoryBudget(std::string name, uint64_t bytes) : name_(std::move(name)), source_(bytes) {}

  /// Adds bytes to the source's size: for another file of the source, and for numbers of fewer than 32 bits, the bytes
  /// that their f32 form takes beyond their own.
  void add_source(uint64_t bytes);
  /// Counts `bytes` that are about to be allocated for `what` ("the nodes of its functions"). Throws Error
  /// (kUnsupported) if that exceeds the budget.
  void take(uint64_t bytes, std::string_view what);
  /// Counts `count` items of `size` bytes in the same way; the product may overflow.
  void take(uint64_t count, uint64_t size, std::string_view what);
  /// Subtracts bytes that were taken before and are free now.
  void give_back(uint64_t bytes) { taken_ -= bytes; }
  uint64_t taken() const { return taken_; }
  uint64_t most() const;

 private:
  [[noreturn]] void fail(std::string_view what) const;

  std::string name_;
  uint64_t source_;
  uint64_t taken_ = 0;
};

/// Bytes that one holder has taken from a budget. The destructor gives them back.
class Taken {
 public:
  explicit Taken(std::shared_ptr<MemoryBudget> budget) : budget_(std::move(budget)) {}
  ~Taken() { give_back(bytes_); }
  Taken(Taken&& other) noexcept : budget_(std::move(other.budget_)), bytes_(std::exchange(other.bytes_, 0)) {}
  Taken& operator=(Taken&&) = delete;

  void take(uint64_t bytes, std::string_view what) {
    budget_->take(bytes, what);
    bytes_ += bytes;
  }
  void give_back(uint64_t bytes) {
    if (budget_ == nullptr) return;
    budget_->give_back(bytes);
    bytes_ -= bytes;
  }

 private:
  std::shared_ptr<MemoryBudget> budget_;
  uint64_t bytes_ = 0;
};

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_BASE_MEMORY_BUDGET_H_
