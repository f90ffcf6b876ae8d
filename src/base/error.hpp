// Errors of the program: exceptions with the text `<problem> (<why it matters>) <what to do>`.
#pragma once

#include <source_location>
#include <stdexcept>
#include <string>

namespace sonde {

/// Base of every error that sonde throws on purpose. Ends the program with status 1.
class Error : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Bad usage or configuration: ends the program with status 2.
class ConfigError : public Error {
  using Error::Error;
};

/// A file could not be read or written, or is not what it should be.
class StoreError : public Error {
  using Error::Error;
};

/// MPI failed, or the ranks disagree.
class CommError : public Error {
  using Error::Error;
};

/// An error that every rank has at the same time, so no rank waits for another.
class AgreedError : public CommError {
  using CommError::CommError;
};

/// Bad usage, found by all ranks: ends the program with status 2, as ConfigError does.
class AgreedConfigError : public AgreedError {
  using AgreedError::AgreedError;
};

/// A probe failed. The suite records it and goes on.
class DeviceError : public Error {
  using Error::Error;
};

/// The device can no longer be used by this process (sticky error, hang): measuring on it ends.
class DeviceLostError : public DeviceError {
  using DeviceError::DeviceError;
};

/// Checks a contract, in every build. @throws Error with the place of the call if it is violated
inline void require(bool condition, const std::string& message,
                    std::source_location place = std::source_location::current()) {
  if (!condition) {
    throw Error(message + " [" + place.file_name() + ":" + std::to_string(place.line()) + "]");
  }
}

}  // namespace sonde
