# Fits of R on data under the GPL, which is not in this repository: the figures that test_endometrial, test_glm,
# test_saheart and test_prostate expect. The data comes from R packages that are installed where this runs.
#
#   Rscript tests/references/data/r/outside.R ../shared/data
#
# writes endometrial.csv and lizards.csv (package brglm2), saheart.csv and prostate.csv (package ElemStatLearn) into
# the folder, where those tests look for them, unless a file of that name is there; then it prints the figures.
# Without ElemStatLearn, two files of its sources may be given: ... FOLDER SAheart.RData prostate.RData

options(digits = 9, width = 110)
suppressPackageStartupMessages(library(brglm2))
words <- commandArgs(trailingOnly = TRUE)

take <- function(name, package, file = NA) {
  place <- new.env()
  if (!is.na(file)) load(file, place)
  else if (requireNamespace(package, quietly = TRUE)) data(list = name, package = package, envir = place)
  else return(NULL)
  get(name, place)
}

keep <- function(table, name) {
  path <- file.path(words[1], name)
  if (!file.exists(path)) write.csv(table, path, row.names = FALSE, quote = FALSE)
}

endometrial <- take("endometrial", "brglm2")
keep(endometrial, "endometrial.csv")
cat("endometrial, maximum likelihood (NV is infinite), then mean bias reduction\n")
print(summary(suppressWarnings(glm(HG ~ NV + PI + EH, binomial, endometrial)))$coefficients)
print(summary(glm(HG ~ NV + PI + EH, binomial, endometrial, method = "brglmFit", type = "AS_mean",
                  control = list(epsilon = 1e-12, maxit = 1000)))$coefficients)

lizards <- take("lizards", "brglm2")
keep(lizards, "lizards.csv")
lizards$light <- relevel(lizards$light, "shady")
cat("lizards\n")
print(coef(glm(cbind(grahami, opalinus) ~ height + diameter + light + time, binomial, lizards)))

heart <- take("SAheart", "ElemStatLearn", words[2])
if (!is.null(heart)) {
  keep(heart, "saheart.csv")
  cat("saheart, Tables 4.2 and 4.3\n")
  print(summary(glm(chd ~ sbp + tobacco + ldl + famhist + obesity + alcohol + age, binomial, heart))$coefficients)
  print(coef(glm(chd ~ tobacco + ldl + famhist + age, binomial, heart)))
}

prostate <- take("prostate", "ElemStatLearn", words[3])
if (!is.null(prostate)) {
  keep(within(prostate, train <- ifelse(train, "T", "F")), "prostate.csv")
  cat("prostate, Tables 3.2 and 3.3: least squares, then the ridge of five degrees of freedom\n")
  X <- scale(as.matrix(prostate[, 1:8]))
  y <- prostate$lpsa
  train <- prostate$train
  error <- function(b) {
    lost <- (y[!train] - cbind(1, X[!train, ]) %*% b)^2
    c(error = mean(lost), deviation = sd(lost) / sqrt(length(lost)))
  }
  least <- lm(y ~ X, subset = train)
  print(summary(least)$coefficients)
  print(error(coef(least)))
  middle <- colMeans(X[train, ])
  parts <- svd(sweep(X[train, ], 2, middle))
  lambda <- uniroot(function(l) sum(parts$d^2 / (parts$d^2 + l)) - 5, c(1e-3, 1e4), tol = 1e-10)$root
  slopes <- drop(parts$v %*% (parts$d / (parts$d^2 + lambda) * crossprod(parts$u, y[train] - mean(y[train]))))
  ridge <- c(mean(y[train]) - sum(middle * slopes), slopes)
  print(c(lambda = lambda))
  print(ridge)
  print(error(ridge))
}
