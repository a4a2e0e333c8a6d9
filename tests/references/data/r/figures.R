# Make figures.csv: fits of R on data that is free to ship or that scikit-learn and statsmodels bring.
#
#   Rscript tests/references/data/r/figures.R PENGUINS SKLEARN RANDHIE > figures.csv
#
# PENGUINS  examples/penguins.csv of this repository
# SKLEARN   the folder sklearn/datasets/data of an installed scikit-learn
# RANDHIE   the file statsmodels/datasets/randhie/randhie.csv of an installed statsmodels
#
# Needs R (lm, glm) and the package brglm2. One line for each coefficient: fit, term, estimate, standard error; and the
# log-likelihood and other single figures as terms in brackets, without an error.

options(warn = 1)
suppressPackageStartupMessages(library(brglm2))
words <- commandArgs(trailingOnly = TRUE)
tight <- list(epsilon = 1e-15, maxit = 200)

say <- function(fit, term, estimate, error = NA) {
  shown <- ifelse(is.na(error), "", sprintf("%.13g", error))
  cat(sprintf("%s,%s,%.13g,%s\n", fit, term, estimate, shown), sep = "")
}

tell <- function(fit, model) {
  table <- summary(model)$coefficients
  say(fit, gsub("[()]", "", rownames(table)), table[, 1], table[, 2])
  if (!inherits(model, "brglmFit")) say(fit, "[log-likelihood]", as.numeric(logLik(model)))
}

cat("fit,term,estimate,error\n")

# Palmer penguins
p <- read.csv(words[1], na.strings = "", stringsAsFactors = TRUE)
tell("penguins-line", lm(body_mass_g ~ flipper_length_mm, p))
known <- p[complete.cases(p), ]
tell("penguins-linear", lm(body_mass_g ~ species + sex + bill_length_mm + flipper_length_mm, known))
sizes <- sex == "male" ~ bill_length_mm + bill_depth_mm + flipper_length_mm + body_mass_g
tell("penguins-logistic", glm(sizes, binomial, known, control = tight))
tell("penguins-firth", glm(sizes, binomial, known, method = "brglmFit", type = "AS_mean",
                           control = list(epsilon = 1e-13, maxit = 1000)))

# As with lizards: counts of two classes in each cell of a table
counts <- aggregate(cbind(male = sex == "male", female = sex == "female") ~ species + year, known, sum)
counts$years <- counts$year - 2007
tell("penguins-counts", glm(cbind(male, female) ~ species + years, binomial, counts, control = tight))

# As with endometrial: on Torgersen there are only Adelie penguins, so maximum likelihood sends that coefficient to
# infinity; the others are those of the other islands. Firth's penalty (Jeffreys' prior) keeps all of them.
islands <- data.frame(adelie = known$species == "Adelie", torgersen = as.numeric(known$island == "Torgersen"),
                      depth = known$bill_depth_mm, mass = known$body_mass_g / 1000)
tell("islands-finite", glm(adelie ~ depth + mass, binomial, subset(islands, torgersen == 0), control = tight))
tell("islands-firth", glm(adelie ~ torgersen + depth + mass, binomial, islands, method = "brglmFit", type = "AS_mean",
                          control = list(epsilon = 1e-13, maxit = 1000)))

# scikit-learn: iris without setosa, breast cancer, diabetes
iris <- read.csv(file.path(words[2], "iris.csv"), skip = 1, header = FALSE)
tell("iris-logistic", glm(V5 == 2 ~ V1 + V2 + V3 + V4, binomial, subset(iris, V5 > 0), control = tight))
cancer <- read.csv(file.path(words[2], "breast_cancer.csv"), skip = 1, header = FALSE)
tell("cancer-full", glm(V31 ~ V1 + V2 + V5 + V6 + V8, binomial, cancer, control = tight))
tell("cancer-reduced", glm(V31 ~ V1 + V2 + V8, binomial, cancer, control = tight))
X <- as.matrix(read.table(file.path(words[2], "diabetes_data_raw.csv.gz")))
y <- scan(file.path(words[2], "diabetes_target.csv.gz"), quiet = TRUE)
X <- scale(X)  # by the deviations with n - 1
colnames(X) <- paste0("x", seq_len(ncol(X)))
tell("diabetes-linear", lm(y ~ ., data.frame(X, y)))

# As with prostate: the ridge of five degrees of freedom (the intercept not counted), by singular values
parts <- svd(X)
degrees <- function(lambda) sum(parts$d^2 / (parts$d^2 + lambda))
lambda <- uniroot(function(l) degrees(l) - 5, c(1e-3, 1e5), tol = 1e-12)$root
ridge <- parts$v %*% (parts$d / (parts$d^2 + lambda) * crossprod(parts$u, y - mean(y)))
say("diabetes-ridge", "[lambda]", lambda)
say("diabetes-ridge", c("Intercept", colnames(X)), c(mean(y), ridge))

# statsmodels: visits to a doctor, RAND health insurance experiment
visits <- read.csv(words[3])
tell("visits-poisson", glm(mdvis ~ lncoins + idp + lpi + fmde + physlm + disea + hlthg + hlthf + hlthp, poisson, visits,
                           control = tight))
